#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""heap --all beside a place that allocates millions of times and does nothing else: what its own time does not pay
for is left out, counted and told, and the error of a place that allocates once is found all the same. Of
a program that allocates less nothing is left out.

usage: left_out.py TRAPLINE PROGRAM"""
import json
import os
import re
import subprocess
import sys
import tempfile

PAIRS = 2_000_000
PAGED = 65536    # blocks that are guarded in any case
FEW = 10_000
WAYS = ("malloc", "moved", "realloc", "places", "wrapped")    # of busy.c
SENTENCE = re.compile(r"^trapline: (\d+) blocks of the heap were not guarded, .* \(guards-left-out; guards: (\d+)\)$",
                      re.MULTILINE)
UNKEPT = re.compile(r"^trapline: \d+ blocks? of the heap (was|were) given back .* \(guards-unkept-time; guards: \d+\)$",
                    re.MULTILINE)


def run(trapline, program, pairs, way):
    with tempfile.NamedTemporaryFile() as output:
        ended = subprocess.run([trapline, "heap", "--all", "-o", output.name, "--", program, str(pairs), way],
                               capture_output=True, text=True, timeout=240, check=False)
        found = [json.loads(line) for line in output]
    assert ended.returncode == 0, ended
    assert [finding["kind"] for finding in found] == ["heap-buffer-overflow"], (way, ended, found)
    return SENTENCE.search(ended.stderr), ended


def check_many(trapline, program, way):
    told, ended = run(trapline, program, PAIRS, way)
    assert told and UNKEPT.search(ended.stderr), ended.stderr
    left_out, guards = int(told[1]), int(told[2])
    assert left_out > 0 and guards >= PAGED, (way, told[0])
    # Those that pass a place unseen are counted ahead, and what did not come is taken off; some find no place in the
    # table (guards-crowded). `places` rounds up to 256.
    assert PAIRS * 0.99 <= left_out + guards <= PAIRS + 300, (way, told[0])


def check_filtered(trapline, program):
    """Under a filter no block is guarded, and each is counted all the same."""
    told, ended = run(trapline, program, FEW, "filtered")
    assert told and FEW * 0.99 <= int(told[1]) <= FEW + 300, ended.stderr


def main():
    trapline, program = sys.argv[1:]
    if subprocess.run([trapline, "doctor"], capture_output=True, check=False).returncode:
        print("skipped: `trapline doctor` says that it cannot work here")
        return 1 if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") == "1" else 77
    for way in WAYS:
        check_many(trapline, program, way)
    check_filtered(trapline, program)
    told, ended = run(trapline, program, FEW, "malloc")
    assert not told and not UNKEPT.search(ended.stderr), ended.stderr
    return 0


if __name__ == "__main__":
    sys.exit(main())
