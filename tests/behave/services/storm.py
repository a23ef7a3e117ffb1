#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Of many short processes that a program starts most do not wait for trapline, and what lives for longer is watched
all the same: told by counters, not by times.

usage: tests/behave/services/storm.py build/trapline build/…/racer"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

TRAPLINE, RACER = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
CHILDREN = 1000
ENDING = 3  # status of the racer
UNWAITED = CHILDREN // 10  # at least: the others would have to be answered within some 50 us each

STORM = f"i=0; while [ $i -lt {CHILDREN} ]; do /bin/true || exit 1; i=$((i+1)); done; "

WRONG_FREE = """
#include <stdlib.h>
int main(void)
{
	char *block = malloc(100);
	free(block + 8);
	return 3;
}
"""

EXECUTES_ITSELF = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(int count, char **argument)
{
	char until[32];
	snprintf(until, sizeof(until), "%ld", count > 1 ? atol(argument[1]) : time(NULL) + 9);
	if (time(NULL) < atol(until))
		execl(argument[0], argument[0], until, NULL);
	return 3;
}
"""


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)


def counts_in(text):
    return {name: int(value) for value, name in re.findall(r"(?m)^ *(\d+)  ([a-z-]+) ", text)}


class Storm(unittest.TestCase):
    def check_waits(self, stderr):
        counts = counts_in(stderr)
        self.assertGreater(counts["processes-unwaited"], UNWAITED, stderr)
        self.assertLessEqual(counts["processes-short"], counts["processes-unwaited"], stderr)
        return counts

    def test_waits_are_bounded(self):
        for command in ("race", "heap", "stack", "uninit"):
            with self.subTest(command):
                result = run(TRAPLINE, command, "--stats=all", "--", "sh", "-c", STORM + "exit 5")
                self.assertEqual((result.returncode, result.stdout), (5, ""), result.stderr)
                counts = self.check_waits(result.stderr)
                self.assertGreater(counts["processes-short"], UNWAITED, result.stderr)
                self.assertEqual(counts["processes-unentered"], 0, result.stderr)

    def test_it_is_said(self):
        result = run(TRAPLINE, "race", "--", "sh", "-c", STORM)
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertRegex(result.stderr, r"little was watched: .* \(processes-short: ")

    def test_who_lives_is_watched(self):
        """Executed by the shell itself, and by a child of it: each program is watched, or has ended before."""
        for tail in (f"exec {RACER} 1", f"{RACER} 1"):
            result = run(TRAPLINE, "race", "--stats=all", "--", "sh", "-c", STORM + tail)
            self.assertIn(result.returncode, (ENDING, 66), result.stderr)
            counts = self.check_waits(result.stderr)
            ended = counts["processes-short"] + counts["processes-ending"]
            self.assertGreaterEqual(counts["processes"] + ended, CHILDREN + 2, result.stderr)

    def test_first_process_is_spared(self):
        """One wait for a controller that stands still takes what all of ten seconds earn; what the shell itself
        executes then waits all the same, and what executes programs for ever does not."""
        still = "(sleep 0.5; kill -CONT $PPID) & kill -STOP $PPID; /bin/true; wait; exec "
        for executions, least, most in ((6, 0, 4), (40, 10, 45)):
            result = run(TRAPLINE, "race", "--stats=all", "--", "sh", "-c", still + "env " * executions + "/bin/true")
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            unwaited = counts_in(result.stderr)["processes-unwaited"]
            self.assertTrue(least <= unwaited <= most, result.stderr)

    def test_who_executes_itself_is_not_lost(self):
        """For longer than a program that was executed may take to announce itself, and too fast to be watched."""
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            program = os.path.join(folder, "program")
            subprocess.run(["gcc", "-w", "-x", "c", "-", "-o", program], input=EXECUTES_ITSELF, text=True, check=True)
            result = run(TRAPLINE, "race", "--budget", "0.05", "--stats=all", "--", program)
            self.assertEqual((result.returncode, result.stdout), (3, ""), result.stderr)
            self.assertEqual(counts_in(result.stderr)["processes-lost"], 0, result.stderr)
            self.assertNotIn("the program has become", result.stderr)

    def test_what_has_a_finding_is_told(self):
        """Also of a process that nobody watches yet."""
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            program = os.path.join(folder, "program")
            subprocess.run(["gcc", "-g", "-w", "-x", "c", "-", "-o", program], input=WRONG_FREE, text=True, check=True)
            result = run(TRAPLINE, "heap", "--stats=all", "--", "sh", "-c", STORM + program)
            self.check_waits(result.stderr)
            self.assertIn("main", result.stdout + result.stderr)
            self.assertRegex(result.stdout + result.stderr, r"(?i)free")


if __name__ == "__main__":
    unittest.main()
