#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that asks its controller for as much as it can does not get a whole CPU: processes announced, notices,
hits that were none, and the doorbell, under `race` and under `watch`.

usage: tests/behave/security/insistent.py build/trapline build/tests/behave/security/insistent

The controller may use a quarter of a CPU and the 0.4 s that it has saved up: of three seconds 1.15 s, and what it
took to start. The bound is half of the time."""
import os
import re
import subprocess
import sys
import time
import unittest

TRAPLINE, INSISTENT = map(os.path.abspath, sys.argv[1:3])
SECONDS = 3
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_time(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Insistent(unittest.TestCase):
    def check(self, asks, *command):
        for what in asks:
            begun = time.monotonic()
            with self.subTest(what=what), subprocess.Popen(
                    [TRAPLINE, *command, "--", INSISTENT, what, str(SECONDS)], stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
                said = process.stdout.readline()
                used, elapsed = cpu_time(process.pid), time.monotonic() - begun
                process.communicate("go\n", timeout=60)
                self.assertGreater(int(re.fullmatch(r"asked (\d+) times\n", said)[1]), 5)
                self.assertLess(used, elapsed / 2)
                self.assertEqual(process.returncode, 5)
                print(f"{command[0]} {what}: {said.strip()}, {used:.2f} s of CPU time")

    def test_under_race(self):
        self.check(("announce", "invent", "ring"), "race", "-q")

    def test_under_watch(self):
        self.check(("notice", "hit"), "watch", "shared", "--count")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
