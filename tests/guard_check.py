#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guard around every test fails what it must and nothing else.

usage: tests/guard_check.py build/trapline"""
import os
import subprocess
import sys
import unittest

GUARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guard.py")
TRAPLINE = os.path.abspath(sys.argv.pop(1))


def guarded(script):
    return subprocess.run([GUARD, "sh", "-c", script, "sh", TRAPLINE], capture_output=True, text=True, check=False,
                          timeout=60, env={**os.environ, "GUARD_PATIENCE": "1"})


class Guard(unittest.TestCase):
    def test_status_is_kept(self):
        for status in (0, 1, 77):
            result = guarded(f"exit {status}")
            self.assertEqual((result.returncode, result.stderr), (status, ""))
        self.assertEqual(guarded("kill -SEGV $$").returncode, 128 + 11)

    def test_a_crash_that_nobody_sees(self):
        result = guarded('"$1" race -q -- sh -c \'kill -SEGV $PPID; sleep 0.3\' 2>/dev/null; exit 0')
        self.assertEqual(result.returncode, 1)
        self.assertIn("guard: trapline: an error of its own", result.stderr)

    def test_what_leaves_its_session(self):
        result = guarded("setsid sleep 50 >/dev/null 2>&1 &")
        self.assertEqual(result.returncode, 1)
        self.assertIn("left behind", result.stderr)
        self.assertIn("sleep 50", result.stderr)


if __name__ == "__main__":
    unittest.main()
