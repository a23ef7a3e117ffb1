#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trapline race --beside`: to a service manager the program is the process that it started.

usage: tests/behave/services/beside.py build/trapline build/…/racer"""
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TRAPLINE, RACER = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
ENDING = 3  # status of the racer

# Says that it is ready, as sd_notify(3) does; then what it sees of itself; then waits to be told to end.
SERVICE = """
import os, signal, socket, sys, time
signal.signal(signal.SIGTERM, lambda number, frame: os._exit(7))
try:
    os.waitpid(-1, os.WNOHANG)
    print("a child")
except ChildProcessError:
    print("no child")
ours = [name for name in os.environ if name == "TRAPLINE_AREA" or name == "LD_PRELOAD"]
print(os.getppid(), sorted(ours),
      sorted(map(int, os.listdir("/proc/self/fd")))[:-1], len(os.listdir("/proc/self/task")), flush=True)
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
while True:
    time.sleep(0.05)  # pause() could begin between a signal and the handler's call
"""


def controllers(folder):
    """Those whose output goes there."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0] == b"trapline" and any(word.startswith(folder.encode()) for word in words):
            found.append(int(pid))
    return found


class Beside(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(self.folder.cleanup)
        self.output = os.path.join(self.folder.name, "found.jsonl")
        self.addCleanup(self.end_controllers)

    def end_controllers(self):
        """None outlives its program by more than a moment."""
        deadline = time.monotonic() + 20
        while controllers(self.folder.name) and time.monotonic() < deadline:
            time.sleep(0.05)
        for pid in controllers(self.folder.name):
            os.kill(pid, signal.SIGKILL)
            self.fail(f"the controller {pid} was left behind")

    def command(self, *program):
        return [TRAPLINE, "race", "--beside", "-q", "--aggressive", "-o", self.output, "--", *program]

    def test_a_service_that_notifies(self):
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        manager.bind(os.path.join(self.folder.name, "notify"))
        manager.settimeout(30)
        environment = dict(os.environ, NOTIFY_SOCKET=manager.getsockname())
        with subprocess.Popen(self.command(sys.executable, "-c", SERVICE), env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
            data, ancillary, _, _ = manager.recvmsg(100, socket.CMSG_SPACE(struct.calcsize("3i")))
            sender = struct.unpack("3i", ancillary[0][2])[0]
            self.assertEqual((data, sender), (b"READY=1", service.pid))
            self.assertEqual(len(controllers(self.folder.name)), 1)
            service.send_signal(signal.SIGTERM)
            self.assertEqual(service.wait(30), 7)
            self.assertEqual(service.stdout.read(), f"no child\n{os.getpid()} [] [0, 1, 2] 1\n")

    def test_races_are_found(self):
        result = subprocess.run(self.command(RACER, "4"), stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertEqual(result.returncode, ENDING)
        self.end_controllers()
        with open(self.output, encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines]
        self.assertIn(("raced", RACER), [(finding["object"]["name"], finding["program"]) for finding in found])

    def test_it_ends_as_the_program_does(self):
        result = subprocess.run(self.command("sh", "-c", "kill -9 $$"), stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertEqual(result.returncode, -9)
        result = subprocess.run(self.command("/nowhere/to/be/found"), stdin=subprocess.DEVNULL, timeout=60, check=False,
                                stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 127)
        self.assertIn("cannot be run", result.stderr)

    def test_who_reads_until_its_end_is_not_kept_waiting(self):
        """A parent may read standard error to its end before it waits for the process: the controller, which has it
        too, ends with a process that nobody has waited for yet, also with one that never took part."""
        for program in (("/nowhere/to/be/found",), ("sh", "-c", "kill -9 $$")):
            command = [TRAPLINE, "race", "--beside", "-q", "--", *program]
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
                readable, _, _ = select.select([process.stderr], [], [], 15)
                while readable and os.read(process.stderr.fileno(), 1000):
                    readable, _, _ = select.select([process.stderr], [], [], 15)
                self.assertTrue(readable, "nobody has waited for it, and its standard error is still open")


if __name__ == "__main__":
    unittest.main()
