# SPDX-License-Identifier: Apache-2.0
"""Programs that change their signal state while they are watched keep what they said, and get no signal of ours.

usage: signals.py TRAPLINE SIGNALS [TEST…]"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

TRAPLINE, SIGNALS = sys.argv[1:3]
TRIES = 3  # of what is up to chance: whether a race is met within some seconds


def is_entered(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return any("trapline" in line for line in maps)


class Signals(unittest.TestCase):
    def run_watched(self, what, *options, command=("race", "-q")):
        """It does what it does while it is watched. Its last words, and what trapline said."""
        with subprocess.Popen([SIGNALS, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as subject:
            def tell(line):
                subject.stdin.write(line)
                subject.stdin.flush()

            self.assertEqual(subject.stdout.readline(), "ready\n")
            with subprocess.Popen([TRAPLINE, *command, "--stats=all", "-p", str(subject.pid), *options],
                                  stderr=subprocess.PIPE, text=True) as watcher:
                deadline = time.monotonic() + 20
                while not is_entered(subject.pid) and time.monotonic() < deadline:
                    time.sleep(0.01)
                time.sleep(0.3)
                tell("\n")
                self.assertEqual(subject.stdout.readline(), "done\n")
                told = watcher.communicate(timeout=60)[1]
            self.assertEqual(watcher.returncode, 0, told)
            self.assertFalse(is_entered(subject.pid))
            tell("\n")
            return subject.stdout.read(), told

    def test_calls_that_end(self):
        words, told = self.run_watched("interrupts", "--duration", "1.5")
        self.assertEqual(words, "own interrupts, 0 traps\n", told)

    def test_action_taken(self):
        words, told = self.run_watched("takes", "--aggressive", "--duration", "5")
        self.assertEqual(words, "own restarts, 0 traps\n", told)
        self.assertRegex(told, r"\b1 +actions-taken\b")

    def test_action_taken_under_a_limit(self):
        words, told = self.run_watched("limited", "--duration", "6", command=("throttle", "--cpu", "30%"))
        self.assertEqual(words, "own restarts, 0 traps\n", told)
        self.assertRegex(told, r"\b1 +actions-taken\b")
        self.assertIn("has set an action of SIGTRAP of its own", told)

    def check_masked(self, what):
        for _ in range(TRIES):
            with tempfile.TemporaryDirectory() as folder:
                output = os.path.join(folder, "out.jsonl")
                words, told = self.run_watched(what, "--aggressive", "--duration", "5", "-o", output)
                self.assertEqual(words, "default interrupts, 0 traps\n", told)
                with open(output, encoding="utf-8") as file:
                    found = {finding["object"]["name"] for finding in map(json.loads, file)}
            blocking, watches = (int(re.search(rf"(\d+) +{name} ", told)[1]) for name in ("threads-blocking", "watches"))
            if found and blocking < watches:
                break
        self.assertEqual(found, {"racy"}, told)
        # Each is asked for its mask once, and events are opened in it from then on.
        self.assertLess(blocking, watches)

    def test_masks_of_later_threads(self):
        self.check_masked("masked")

    def test_masks_of_threads(self):
        self.check_masked("begun")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
