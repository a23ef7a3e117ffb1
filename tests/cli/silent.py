#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where no watchpoint ever fires, as under a hypervisor that hides the debug registers, each command that
needs one says so at once and the program runs as it does alone; where they fire nothing is said.

usage: silent.py TRAPLINE WATCHPOINT-PROBE"""
import os
import subprocess
import sys
import unittest

TRAPLINE, PROBE = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:]
SILENT = subprocess.run([PROBE], check=False).returncode != 0
SENTENCE = "ever fires on this machine"


def run(*arguments):
    return subprocess.run([TRAPLINE, *arguments], capture_output=True, text=True, check=False, timeout=60)


class Silent(unittest.TestCase):
    def test_programs_run_all_the_same(self):
        for command in (["watch", "libc.so.6:environ", "--later"], ["race"], ["heap"], ["stack"], ["uninit"], ["flow", "map"]):
            result = run(*command, "--", "sh", "-c", "echo out; exit 7")
            self.assertEqual((result.returncode, result.stdout), (7, "out\n"), result)
            self.assertEqual(SENTENCE in result.stderr, SILENT, result.stderr)

    def test_guarded_pages_need_none(self):
        result = run("heap", "--", "true")
        self.assertEqual("page faults" in result.stderr, SILENT, result.stderr)

    def test_a_running_process_is_left_alone(self):
        with subprocess.Popen(["sleep", "60"]) as process:
            result = run("watch", "-p", str(process.pid), "libc.so.6:environ", "--duration", "1")
            process.kill()
        self.assertEqual(SENTENCE in result.stderr, SILENT, result.stderr)
        self.assertEqual(result.returncode != 0, SILENT, result.stderr)


if __name__ == "__main__":
    unittest.main()
