#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that go into the background: the command ends as their first process does, and what is left is watched to
its end, or until `trapline stop`.

usage: tests/behave/services/background.py build/trapline build/…/racer"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TRAPLINE, RACER = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
FIRST_ENDING = 4  # status of the racer's first process
WRITES = 500      # of `counted`

USE_AFTER_FREE = """
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	volatile char sink;
	if (fork() > 0)
		_exit(4);
	for (int fd = 0; fd < 3; fd++)
		dup2(open("/dev/null", O_RDWR), fd);
	sleep(2); /* until the copy watches */
	for (int i = 0; i < 3; i++) {
		char *block = memset(malloc(200 + 100 * i), 1, 200);
		free(block);
		sink = block[40];
	}
	return close(creat(argv[1], 0600));
}
"""


def run(*command):
    return subprocess.run([TRAPLINE, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                          check=False)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_end(pid):
    deadline = time.monotonic() + 30
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


class Background(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(self.folder.cleanup)
        self.output = os.path.join(self.folder.name, "found.jsonl")

    def found(self):
        with open(self.output, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def start(self, command, seconds):
        """The process that watches on, and the one that it watches."""
        result = run(*command, "-o", self.output, "--", RACER, str(seconds), "background")
        self.assertEqual((result.returncode, result.stdout), (FIRST_ENDING, ""), result.stderr)
        # Hits and findings of the first moments are shown before, and nothing else is.
        told = re.search(r"(?m)^trapline: .*racer has ended, \d of its processes "
                         r"go(?:es)? on; process (\d+) watches (?:it|them)"
                         r": `trapline stop \1` ends that\n\Z", result.stderr)
        self.assertTrue(told, result.stderr)
        self.assertEqual(len(re.findall("(?m)^trapline:", result.stderr)), 1, result.stderr)
        controller = int(told[1])
        self.addCleanup(lambda: is_running(controller) and os.kill(controller, signal.SIGKILL))
        return controller, self.listed(controller)

    def listed(self, controller):
        """The one process that it watches, once the process between the first and the daemon has ended."""
        pattern = rf"^{controller}  since .*-o {self.output} .*\n    watches racer \((\d+)\)$"
        deadline = time.monotonic() + 10
        while not (found := re.search(pattern, shown := run("list").stdout, re.M)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(found, shown)
        return int(found[1])

    def test_what_needs_threads_of_the_controller(self):
        """The copy has them, too: blocks on pages of their own are made, and who touches a freed one is told and goes on."""
        program, written = (os.path.join(self.folder.name, name) for name in ("program", "written"))
        subprocess.run(["gcc", "-g", "-w", "-O1", "-x", "c", "-", "-o", program], input=USE_AFTER_FREE, text=True, check=True)
        result = run("heap", "--all", "-o", self.output, "--", program, written)
        self.assertEqual((result.returncode, result.stdout), (FIRST_ENDING, ""), result.stderr)
        controller = int(re.search(r"; process (\d+) watches it", result.stderr)[1])
        self.addCleanup(lambda: is_running(controller) and os.kill(controller, signal.SIGKILL))
        self.assertTrue(wait_for_end(controller))
        self.assertTrue(os.path.exists(written))
        self.assertIn("heap-use-after-free", [finding["kind"] for finding in self.found()])

    def test_races_are_found_to_the_end(self):
        controller, program = self.start(("race", "--aggressive"), 4)
        self.assertTrue(wait_for_end(program) and wait_for_end(controller))
        self.assertIn("raced", [finding["object"]["name"] for finding in self.found()])

    def test_hits_are_counted_to_the_end(self):
        controller, program = self.start(("watch", "counted:w"), 2)
        self.assertTrue(wait_for_end(program) and wait_for_end(controller))
        self.assertEqual(len([finding for finding in self.found() if finding["kind"] == "hit"]), WRITES)

    def test_it_is_stopped(self):
        controller, program = self.start(("race", "--aggressive"), 30)
        self.addCleanup(os.kill, program, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while not self.found() and time.monotonic() < deadline:
            time.sleep(0.1)
        result = run("stop", str(program))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertFalse(is_running(controller))
        self.assertTrue(is_running(program))
        self.assertIn("raced", [finding["object"]["name"] for finding in self.found()])
        result = run("stop", str(program))
        self.assertEqual((result.returncode, "neither watches nor is watched" in result.stderr), (1, True))

    def test_it_stays_in_the_foreground(self):
        began = time.monotonic()
        result = run("race", "--foreground", "-q", "-o", self.output, "--aggressive", "--", RACER, "2", "background")
        self.assertEqual(result.returncode, FIRST_ENDING, result.stderr)
        self.assertGreater(time.monotonic() - began, 2)


if __name__ == "__main__":
    unittest.main()
