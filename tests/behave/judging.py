# SPDX-License-Identifier: Apache-2.0
"""Rates of what was found, and the seeds of generated programs."""

import math


def interval(found, runs):
    """Wilson's, for 95 %."""
    if not runs:
        return 0.0, 1.0
    z, share = 1.96, found / runs
    middle = (share + z * z / (2 * runs)) / (1 + z * z / runs)
    half = z / (1 + z * z / runs) * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return max(0.0, middle - half), min(1.0, middle + half)


def tell(found, runs):
    low, high = interval(found, runs)
    return f"{found:4} of {runs:<4} {100 * found / max(runs, 1):5.1f} %  " \
           f"[{100 * low:5.1f}, {100 * high:5.1f}]"


def seeds(text):
    """As 1-40 or 3,7,12."""
    numbers = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers
