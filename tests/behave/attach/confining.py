# SPDX-License-Identifier: Apache-2.0
"""A thread of a program attached to confines itself: no hit ends it.

usage: confining.py TRAPLINE CONFINING [TEST…]"""
import re
import subprocess
import sys
import time
import unittest

TRAPLINE, CONFINING = sys.argv[1:3]
MOVING = "race", "--aggressive", "-q"  # watches are moved all the time
ROUNDS = 5
PATIENCE = 30
SETTLES = 1.0  # seconds, from the handler's action to the first watches


def is_entered(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        caught = re.search(r"^SigCgt:\s*(\w+)", status.read(), re.MULTILINE)[1]
    return int(caught, 16) & 1 << 4


class Confining(unittest.TestCase):
    def confine(self, how, *command):
        # pylint: disable=consider-using-with
        subject = subprocess.Popen([CONFINING, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(subject.communicate)
        self.assertEqual(subject.stdout.readline(), "ready\n")
        watching = subprocess.Popen([TRAPLINE, *command, "-p", str(subject.pid)],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watching.communicate)
        self.addCleanup(subject.kill)
        until = time.monotonic() + PATIENCE
        while watching.poll() is None and not is_entered(subject.pid) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(SETTLES)
        self.assertIsNone(watching.poll())
        words, _ = subject.communicate("\n", timeout=PATIENCE)
        errors = watching.communicate(timeout=PATIENCE)[1]
        self.assertEqual((words, subject.returncode), ("ok\n", 0), errors)

    def test_strictly(self):
        self.confine("strict", *MOVING)

    def test_by_a_filter(self):
        self.confine("filter", *MOVING)

    def test_under_a_limit(self):
        """Nobody looks for the filter before a look of the limit's."""
        for _ in range(ROUNDS):
            self.confine("limited", "throttle", "--cpu", "90%")


if __name__ == "__main__":
    if subprocess.run([TRAPLINE, "doctor", "--json"], stdout=subprocess.DEVNULL, check=False).returncode:
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
