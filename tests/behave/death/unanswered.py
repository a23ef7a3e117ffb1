#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program waits for when nobody answers: its processes and threads announce themselves to a
controller that was killed, or that is stopped.

usage: tests/behave/death/unanswered.py build/trapline build/tests/behave/death/forker LIBRARY

Killed: nothing is waited for. Stopped: the first wait ends after a second, or after ten when the controller was at
work as it was stopped; the later ones at once. The bounds are at most half of what as many waits of the shortest kind
take (0.1 s for a fork under `race` and a block under `heap`, 1 s for anything under `watch`), and far more than the work itself needs."""
import os
import select
import signal
import subprocess
import sys
import time
import unittest

TRAPLINE, FORKER, LIBRARY = map(os.path.abspath, sys.argv[1:4])
COUNT = {"race": 60, "watch": 30, "heap": 200}
BOUND = {"race": 3, "watch": 15, "heap": 10}  # seconds
LIMIT = 60  # seconds: nothing takes as long
# What a block of 13 bytes may hold while trapline is there, and when it was killed.
KILLER = """
import ctypes, os, time
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_size_t
libc.malloc_usable_size.argtypes = [ctypes.c_size_t]
before = libc.malloc_usable_size(libc.malloc(13))
os.kill(os.getppid(), 9)
time.sleep(0.3)
print(before, libc.malloc_usable_size(libc.malloc(13)), flush=True)
"""


class Unanswered(unittest.TestCase):
    def line(self, process):
        ready, _, _ = select.select([process.stdout], [], [], LIMIT)
        self.assertTrue(ready, f"a line within {LIMIT} s")
        return process.stdout.readline().decode()

    def took(self, number, command, what, count, wrap=()):
        """Seconds, after the controller got the signal."""
        with subprocess.Popen([TRAPLINE, *command, "--", *wrap, FORKER, what, str(count)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as process:
            try:
                self.assertEqual(self.line(process), "ready\n")
                time.sleep(0.3)
                os.kill(process.pid, number)
                process.stdin.write(b"go\n")
                word, milliseconds = self.line(process).split()
                self.assertEqual(word, "took")
                return int(milliseconds) / 1000
            finally:
                if number == signal.SIGSTOP:
                    os.kill(process.pid, signal.SIGCONT)
                process.stdin.close()

    def check(self, command, what):
        for number in (signal.SIGKILL, signal.SIGSTOP):
            with self.subTest(signal=number.name):
                self.assertLess(self.took(number, command, what, COUNT[command[0]]), BOUND[command[0]])

    def test_forks_under_race(self):
        self.check(["race", "-q"], "forks")

    def test_forks_under_watch(self):
        self.check(["watch", "shared", "--count"], "forks")

    @unittest.skipUnless(os.getuid() == 0, "other users and namespaces are root's to make")
    def test_forks_elsewhere(self):
        """The death is told to whoever maps the area."""
        for wrap in (["unshare", "-p", "-f", "--mount-proc"], ["setpriv", "--reuid", "65534", "--clear-groups"]):
            with self.subTest(wrap=wrap[0]):
                took = self.took(signal.SIGKILL, ["watch", "shared", "--count"], "forks", COUNT["watch"], wrap)
                self.assertLess(took, BOUND["watch"])

    @unittest.skipUnless(os.getuid() == 0, "another user's process is one that cannot be looked into")
    def test_a_controller_that_nobody_has_waited_for(self):
        """What was executed as it died may ask it for the area: its id is still there."""
        with subprocess.Popen(["/bin/true"]) as dead:
            os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
            environment = {**os.environ, "LD_PRELOAD": LIBRARY, "TRAPLINE_AREA": f"{dead.pid}:3:0123456789abcdef"}
            begin = time.monotonic()
            result = subprocess.run(["/bin/true"], env=environment, user=65534, group=65534, extra_groups=[], check=False,
                                    timeout=LIMIT)
            self.assertEqual(result.returncode, 0)
            self.assertLess(time.monotonic() - begin, 2.5, "less than the three seconds that are waited for a busy one")

    def test_blocks_under_heap(self):
        """Each block is told, and stands on pages that the controller fills."""
        self.check(["heap", "--all"], "blocks")

    def test_no_block_is_guarded_for_nobody(self):
        """Each costs a thousand times what it costs alone, of which nobody would hear."""
        process = subprocess.Popen([TRAPLINE, "heap", "--all", "--", sys.executable, "-c", KILLER],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        before, after = map(int, self.line(process).split())
        process.wait(LIMIT)
        process.stdout.close()
        self.assertEqual(before, 13)
        self.assertGreater(after, 13)

    def test_threads_under_watch(self):
        self.check(["watch", "own", "--count"], "threads")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
