#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline watch --follow: what moves by less than its own length has moved.

Usage: slide.py TRAPLINE SLIDE
"""
import re
import subprocess
import sys
import unittest

TRAPLINE, SLIDE = sys.argv[1:3]


def hits(expression):
    """[(offset in the whole, value of the piece there)]"""
    result = subprocess.run([TRAPLINE, 'watch', expression, '--follow', '--', SLIDE], capture_output=True, text=True,
                            timeout=100, check=False)
    found = re.findall(r'write \S+(?: \[\+(\d+)\])?  \d+ → (\d+) ', result.stderr)
    return [(int(offset or 0), int(value)) for offset, value in found], result.stderr


class Slide(unittest.TestCase):
    def test_beside_a_scout(self):
        found, text = hits('*cursor:4')
        self.assertEqual(found, [(0, 1), (2, 0x200)], text)

    def test_in_all_slots(self):
        """One of 8 bytes, then three pieces of it, then four."""
        found, text = hits('*cursor:8')
        self.assertEqual(found, [(0, 1), (2, 0x200), (7, 3)], text)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
