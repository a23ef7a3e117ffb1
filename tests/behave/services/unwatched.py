#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where nothing or little is watched, one line at the end says so and names the counter; programs of another C library
run as they are.

usage: tests/behave/services/unwatched.py build/trapline build/…/racer build/…/deprived"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TRAPLINE, RACER, DEPRIVED = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)))
PERF_EVENT_OPEN = "298"  # x86-64
EPERM = "1"
ENDING = 3  # status of the racer
LINKER = "/lib64/ld-linux-x86-64.so.2"

RAW_CHILDREN = """
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
int main(void)
{
	for (int i = 0; i < 5; i++) {
		long child;
		__asm__ volatile("syscall" : "=a"(child) : "a"(SYS_fork) : "rcx", "r11", "memory");
		if (child == 0)
			exit(0);
		wait(NULL);
	}
	return 6;
}
"""


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


class Unwatched(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.path = lambda name: os.path.join(folder.name, name)

    def build(self, name, *options, source="int main(void) { return 6; }\n"):
        with open(self.path("end.c"), "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run(["gcc", "-o", self.path(name), self.path("end.c"), *options], check=True)
        return self.path(name)

    def check(self, result, status, words, counter):
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        lines = [line for line in result.stderr.splitlines() if words in line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertIn(f"({counter}: ", lines[0])

    def test_no_event_can_be_opened(self):
        for wrapper in ((DEPRIVED, PERF_EVENT_OPEN, EPERM), (DEPRIVED, "slots", "4")):
            self.check(run(*wrapper, TRAPLINE, "race", "--", RACER, "0.2"), ENDING, "nothing was watched", "processes-left")

    def test_what_is_executed_cannot_be_entered(self):
        static = self.build("static", "-static")
        self.check(run(TRAPLINE, "race", "--", "sh", "-c", f"{static}; {static}; exit 9"), 9, "little was watched",
                   "programs-unentered")

    def test_children_by_raw_instruction(self):
        program = self.build("raw", source=RAW_CHILDREN)
        self.check(run(TRAPLINE, "race", "--", program), 6, "little was watched", "children-unseen")

    def test_what_was_never_executed(self):
        script = "import os\nfor i in range(20):\n try: os.execv('/nowhere/at/all', ['x'])\n except OSError: pass"
        result = run(TRAPLINE, "race", "--stats=all", "--", sys.executable, "-c", script)
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertNotIn("little was watched", result.stderr)
        self.assertRegex(result.stderr, r"(?m)^ *0  programs-unentered ")

    def test_another_c_library(self):
        linker = shutil.copy(LINKER, self.path("ld-musl-x86_64.so.1"))
        program = self.build("foreign", f"-Wl,--dynamic-linker={linker}")
        result = run(TRAPLINE, "race", "--", program)  # entered at its first instruction
        self.assertEqual((result.returncode, result.stdout, result.stderr), (6, "", ""))
        result = run(TRAPLINE, "watch", "main:x", "--", program)
        self.assertEqual((result.returncode, result.stdout), (6, ""))
        self.assertIn("main:x: 1 hits", result.stderr)

    def test_nothing_is_said_where_all_is_watched(self):
        for command in (("true",), ("sh", "-c", "true; sleep 0.2"), ("sleep", "1")):
            result = run(TRAPLINE, "race", "--", *command)
            self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
