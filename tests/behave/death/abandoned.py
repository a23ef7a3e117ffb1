#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes killed at any moment give back what they had of the shared area; and the controller that a bare
LD_PRELOAD has started ends with the last of them, or when it is asked to.

usage: tests/behave/death/abandoned.py build/trapline LIBRARY build/tests/behave/death/killer [FORKS]"""
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TRAPLINE, LIBRARY, KILLER = map(os.path.abspath, sys.argv[1:4])
FORKS = sys.argv[4] if len(sys.argv) > 4 else "1000"
LIMIT = 60  # seconds: nothing takes as long


class Abandoned(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="abandoned-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.seed = str(random.randrange(1 << 30))

    def here(self):
        """Processes whose working directory is our folder, by what they run; not those that read files for them."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    reads = file.read().split(b"\0")[1:2] == [b"symbol-reader"]
                if os.readlink(f"/proc/{pid}/cwd") == self.folder and not reads:
                    found[int(pid)] = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
            except OSError:
                pass
        return found

    def expect_nobody(self, name):
        until = time.monotonic() + LIMIT
        while name in self.here().values():
            self.assertLess(time.monotonic(), until, f"{name} has ended: {self.here()}")
            time.sleep(0.05)

    def companion(self):
        """The process that reads files for it is like it until it has executed."""
        until = time.monotonic() + LIMIT
        while True:
            found = [pid for pid, name in self.here().items() if name == "trapline"]
            if len(found) == 1:
                return found[0]
            self.assertLess(time.monotonic(), until, found)
            time.sleep(0.01)

    def check(self, *command):
        result = subprocess.run([TRAPLINE, *command, "--", KILLER, FORKS, self.seed], capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=2 * LIMIT, check=False, cwd=self.folder)
        self.assertEqual((result.stdout, result.returncode), ("left 0\n", 7), (self.seed, result.stderr[-2000:]))
        return result

    def test_under_race(self):
        self.check("race", "-q")

    def test_under_watch(self):
        self.check("watch", "stdin", "--count")

    def preloaded(self, *arguments, **more):
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "TRAPLINE_OPTIONS": "-q"}
        return subprocess.Popen([KILLER, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                env=environment, cwd=self.folder, **more)

    def test_the_companion_ends_with_its_last_process(self):
        with self.preloaded("200", self.seed) as process:
            stdout, _ = process.communicate(timeout=LIMIT)
            self.assertEqual((stdout, process.returncode), ("left 0\n", 7), self.seed)
        self.expect_nobody("trapline")

    def test_the_companion_ends_when_asked_to(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number.name), self.preloaded("0", self.seed, "wait") as process:
                ready, _, _ = select.select([process.stdout], [], [], LIMIT)
                self.assertTrue(ready)
                os.kill(self.companion(), number)
                self.expect_nobody("trapline")
                self.assertIsNone(process.poll(), "the program goes on")
                process.communicate("go\n", timeout=LIMIT)
                self.assertEqual(process.returncode, 7)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
