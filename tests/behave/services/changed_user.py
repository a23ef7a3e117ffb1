#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are executed as another user than trapline's, or in a namespace, as service managers and start
scripts do: they are watched, or it is said at once that they are not.

usage: tests/behave/services/changed_user.py build/trapline build/…/racer"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from reachable import reachable  # pylint: disable=wrong-import-position

TRAPLINE, RACER = reachable(sys.argv.pop(1), sys.argv.pop(1))
WRITES = 500  # of `counted`
ENDING = 3    # status of the racer
SECONDS = "0.2"
RACE_SECONDS = "4"
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
PYTHON = [sys.executable, "-c"]
CHANGES = {
    "setpriv": [*NOBODY, RACER, SECONDS],
    "runuser": ["runuser", "-u", "nobody", "--", RACER, SECONDS],
    "su": ["su", "nobody", "-s", "/bin/sh", "-c", f"exec {RACER} {SECONDS}"],
    # It refuses where another process of that file runs.
    "start-stop-daemon": ["start-stop-daemon", "--start", "--chuid", "nobody", "--pidfile", "/nonexistent", "--startas", RACER,
                          "--", SECONDS],
    "chroot": ["chroot", "--userspec=nobody", "/", RACER, SECONDS],
    "namespace": ["unshare", "-p", "-f", "--mount-proc", *NOBODY, RACER, SECONDS],
    "capabilities": ["setpriv", "--bounding-set", "-all", RACER, SECONDS],
    "setuid, then system": [*PYTHON, "import os, sys; os.setgid(65534); os.setuid(65534); "
                            f"sys.exit(os.waitstatus_to_exitcode(os.system('{RACER} {SECONDS}')))"],
    "setuid with memory files of its own": [
        *PYTHON, "import os; [os.set_inheritable(os.memfd_create('own'), True) for _ in range(3)]; os.setgid(65534); "
                 f"os.setuid(65534); os.execv('{RACER}', ['{RACER}', '{SECONDS}'])"],
    "child's user": [*PYTHON, f"import subprocess, sys; sys.exit(subprocess.run(['{RACER}', '{SECONDS}'], user=65534)"
                     ".returncode)"],
}


def run(command, trapline=TRAPLINE):
    return subprocess.run([trapline, *command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                          check=False, cwd="/")


def counted(text):
    """Hits, and traps that the kernel told as no event's."""
    hits = re.search(r"counted:w: (\d+) hits", text)
    dropped = re.search(r"^ *(\d+)  traps-without-cause", text, re.M)
    return sum(int(found[1]) for found in (hits, dropped) if found)
# What another group's process executes can open the area itself, and so asks for nothing; its child's memory file is
# no question either.
MEMORY_FILES = """
import os, time
os.setgid(65534)
if os.fork() == 0:
    os.memfd_create('own')
    time.sleep(5)
    os._exit(0)
time.sleep(0.2)
os.execvp('sleep', ['sleep', '5'])
"""


@unittest.skipUnless(os.getuid() == 0, "only root can change its user")
class ChangedUser(unittest.TestCase):
    def test_hits_are_counted(self):
        for name, command in CHANGES.items():
            with self.subTest(change=name):
                result = run(["watch", "counted:w", "--later", "--count", "--stats", "--", *command])
                self.assertEqual(result.returncode, ENDING, result.stderr)
                self.assertEqual(counted(result.stderr), WRITES, result.stderr)

    def test_races_are_found(self):
        result = run(["race", "--aggressive", "--stats", "--", *NOBODY, RACER, RACE_SECONDS])
        self.assertEqual(result.returncode, ENDING, result.stderr)
        self.assertIn("on raced", result.stderr)

    def test_memory_files_ask_for_nothing(self):
        result = run(["race", "-q", "--", *PYTHON, MEMORY_FILES])
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_what_cannot_be_watched_is_told(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # which is 0700: nobody cannot read it
            build = os.path.dirname(TRAPLINE)
            trapline = shutil.copy(TRAPLINE, folder)
            for name in ("libtrapline-agent.so", "libtrapline-agent-heap.so"):
                shutil.copy(os.path.join(build, "src", "agent", name), folder)
            result = run(["race", "--", *CHANGES["setpriv"]], trapline)
        self.assertEqual((result.returncode, result.stdout), (ENDING, ""))
        self.assertEqual(result.stderr.count("cannot read the library"), 1, result.stderr)


if __name__ == "__main__":
    unittest.main()
