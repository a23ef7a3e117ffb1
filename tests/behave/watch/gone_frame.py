#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline watch on a variable of a frame that is gone: what the signals of other hits leave there is
nobody's access, and the program goes on.

Usage: gone_frame.py TRAPLINE GONE_FRAME
"""
import re
import subprocess
import sys
import unittest

TRAPLINE, GONE_FRAME = sys.argv[1:3]
VARIABLE, SECOND, ROUNDS = '0x10020000', '0x10020008', 50


class GoneFrame(unittest.TestCase):
    def test_written(self):
        result = subprocess.run([TRAPLINE, 'watch', f'{VARIABLE}:8:w', 'tick:w', '--stats', '--', GONE_FRAME],
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        written = re.findall(rf'write {VARIABLE}:8:w .* → (\d+) +(\w+)', result.stderr)
        ticks = re.findall(r'write tick:w .* → (\d+) ', result.stderr)
        self.assertEqual(written, [(str(i), 'deep') for i in range(1, ROUNDS + 1)])
        self.assertEqual(ticks, [str(i) for i in range(1, ROUNDS + 1)])
        self.assertNotIn('late:', result.stderr)
        own = re.search(r'(\d+)  hits-own ', result.stderr)
        self.assertTrue(own and int(own.group(1)) >= ROUNDS, result.stderr[-2000:])

    def test_wherever_it_lies(self):
        """On whatever the handler writes, up to its last call: it returns."""
        result = subprocess.run([TRAPLINE, 'watch', '--count', f'{VARIABLE}:8:w', f'{SECOND}:8:w', 'tick:w', '--',
                                 GONE_FRAME, 'depths'], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
