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
LOWER = '0x1001f800'  # near enough to VARIABLE that both can be within a handler's frames
BESIDE = '0x20008000'


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

    def test_two_are_read(self):
        """Whichever comes first: the watch rests whose bytes the handler reads on its way back."""
        for places in ((VARIABLE, LOWER), (LOWER, VARIABLE)):
            result = subprocess.run([TRAPLINE, 'watch', '--count', *(f'{place}:8:rw' for place in places), '--',
                                     GONE_FRAME, 'reads'], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 0, result.stderr[-2000:])

    def test_beside_an_alternate_stack(self):
        """What lies above the stack that the handler runs on is the program's, and each read of it counts."""
        result = subprocess.run([TRAPLINE, 'watch', f'{BESIDE}:8:rw', '--', GONE_FRAME, 'beside'],
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        self.assertEqual(len(re.findall(rf'read +{BESIDE}:8:', result.stderr)), ROUNDS, result.stderr[-2000:])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
