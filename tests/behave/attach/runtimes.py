# SPDX-License-Identifier: Apache-2.0
"""Attaching to programs of an odd make disturbs none, and nothing remains.

usage: runtimes.py TRAPLINE RUNTIMES [TEST…]"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

TRAPLINE, RUNTIMES = sys.argv[1:3]
TRIES = 3  # of what is up to chance: whether a race is met within some seconds


def trapline(*arguments):
    return subprocess.run([TRAPLINE, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def traces(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        found = [line for line in maps if "trapline" in line or ("x" in line.split()[1] and len(line.split()) < 6)]
    return found


class Runtimes(unittest.TestCase):
    def attach(self, what, seconds, *rounds):
        """The standard errors of all rounds."""
        with subprocess.Popen([RUNTIMES, what, str(seconds)], stdout=subprocess.PIPE, text=True) as subject:
            self.assertEqual(subject.stdout.readline(), "ready\n")
            errors = []
            for options in rounds:
                done = trapline("race", "-p", subject.pid, "--stats=all", *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIsNone(subject.poll(), done.stderr)
                self.assertEqual(traces(subject.pid), [], done.stderr)
                errors.append(done.stderr)
            self.assertEqual((subject.stdout.read(), subject.wait()), ("ok\n", 0))
        return errors

    def check_stacks(self, what):
        """No frame of ours lies on stacks that have no room for one."""
        errors = self.attach(what, 6, *[["--aggressive", "--duration", "1.5"]] * 3)
        hits = sum(int(re.search(r"(\d+) +hits +hits seen", text)[1]) for text in errors)
        self.assertGreater(hits, 0)

    def test_stacks_of_a_language(self):
        self.check_stacks("language")

    def test_stacks_of_a_language_without_signals(self):
        self.check_stacks("faults")

    @unittest.skipIf(os.getuid(), "only root may read filters")
    def test_served(self):
        """Its filters are read and allow all that we call."""
        found = []
        with tempfile.TemporaryDirectory() as folder:
            outputs = [os.path.join(folder, str(i)) for i in range(TRIES)]
            self.attach("served", 5 * TRIES, *[["--duration", "3", "-o", output] for output in outputs])
            for output in outputs:
                with open(output, encoding="utf-8") as file:
                    found += [json.loads(line) for line in file]
        self.assertEqual({finding["object"]["name"] for finding in found if finding["class"] != "possible"}, {"racy"})

    @unittest.skipIf(os.getuid(), "only root may read filters")
    def test_confined(self):
        """Its filters are read and allow what entering takes; a hit makes no call."""
        errors = self.attach("confined", 6, ["--aggressive", "--duration", "3"])
        self.assertRegex(errors[0], r"[1-9]\d* +hits +hits seen")

    def test_starts_programs_all_the_time(self):
        """While it waits for one to begin no thread of it can be stopped."""
        self.attach("start", 6, *[["--duration", "0.05"]] * 25)


if __name__ == "__main__":
    if trapline("doctor", "--json").returncode:
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
