#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trapline patch -p` of a program that was started without us: patched as long as the command runs.

usage: tests/behave/attach/patched.py build/trapline PATCHED FIX.so TLS.so CONSTRUCTOR.so SYMBOL.so IFUNC.so ORIGINAL.so"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from reachable import reachable  # pylint: disable=wrong-import-position

TRAPLINE, PATCHED, FIX, TLS, CONSTRUCTOR, SYMBOL, IFUNC, ORIGINAL = reachable(
    *(sys.argv.pop(1) for _ in range(8)))
BOTH = ("value", "second=new_second")
OLD_TEXT = "old text 8"
NEW_TEXT = "new text one 4 40 1 1"


class Program:
    def __init__(self, threads=0, under=()):
        self.process = subprocess.Popen([*under, PATCHED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(re.match(r"pid (\d+) loops 7", self.process.stdout.readline()).group(1))
        self.threads = 0
        self.begin(threads)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def begin(self, threads):
        self.threads += threads
        if self.say(f"threads {threads}") != f"threads {self.threads}":
            raise AssertionError("threads could not be made")

    def calls(self):
        """Old and new results from now on until each thread has made a call, and in how many threads."""
        self.say("count")
        sums, ends = [0, 0, 0, 0], time.monotonic() + 30
        while max(sums[2:]) < self.threads and time.monotonic() < ends:
            time.sleep(0.2)
            old, new, neither, with_old, with_new = map(int, self.say("count").split())
            assert neither == 0, f"{neither} results were neither the old nor the new one"
            sums = [sums[0] + old, sums[1] + new, max(sums[2], with_old), max(sums[3], with_new)]
        return tuple(sums)

    def state(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return [line for line in status if re.match(r"Sig(Ign|Cgt|Blk)|TracerPid", line)]

    def maps(self):
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps:
            return maps.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        status = self.process.wait(timeout=30)
        self.process.stdout.close()
        assert status == 0, f"the program ended with {status}"


class Patching:
    """The command, once it has said that it has patched."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([TRAPLINE, "patch", "-p", str(program.pid), *arguments],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()
        if not self.line:
            raise AssertionError(self.process.communicate()[1])

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        out = self.process.communicate(timeout=60)
        return self.process.returncode, *out


class Patched(unittest.TestCase):
    def check_rounds(self, threads):
        with Program(threads) as program:
            before = program.state()
            for _ in range(3):
                self.assertEqual(program.calls()[1:], (0, threads, 0))
                patching = Patching(program, FIX, *BOTH)
                self.assertRegex(patching.line, r"patched on breakpoints until Ctrl-C: \S+ value second=new_second\n")
                old, new, _, with_new = program.calls()
                self.assertNotRegex(program.maps(), "rwxp")
                self.assertEqual(patching.end(), (0, "", ""))
                self.assertEqual((old, with_new), (0, threads), f"{old} old and {new} new calls")
                self.assertEqual(program.calls()[1:], (0, threads, 0))
                self.assertEqual(program.state(), before)

    def test_one_thread(self):
        self.check_rounds(1)

    def test_sixteen_threads(self):
        self.check_rounds(16)

    def test_threads_that_come_later(self):
        with Program(2) as program:
            patching = Patching(program, FIX, *BOTH)
            program.begin(8)
            old, _, _, with_new = program.calls()
            self.assertEqual((old, with_new), (0, 10))
            self.assertEqual(patching.end()[0], 0)
            self.assertEqual(program.calls()[1:], (0, 10, 0))

    def test_command_that_is_killed(self):
        with Program(4) as program:
            for _ in range(3):
                patching = Patching(program, FIX, *BOTH)
                self.assertEqual(program.calls()[0], 0)
                self.assertEqual(patching.end(signal.SIGKILL)[0], -signal.SIGKILL)
                program.calls()  # signals that were on their way
                self.assertEqual(program.calls()[1:], (0, 4, 0))
            before = program.state()
            patching = Patching(program, FIX, *BOTH)
            self.assertEqual(program.calls()[0], 0)
            self.assertEqual(patching.end(), (0, "", ""))
            self.assertNotEqual(program.state(), before, "the handler of the one that was killed is left")

    def test_what_the_fix_needs(self):
        with Program() as program:
            patching = Patching(program, FIX, "text=new_text")
            self.assertEqual(program.say("text"), f"{NEW_TEXT} {len(NEW_TEXT)}")
            self.assertEqual(program.say("fork"), "old child 9")
            self.assertEqual(program.say("text"), f"{NEW_TEXT} {len(NEW_TEXT)}")
            self.assertEqual(patching.end(), (0, "", ""))
            self.assertEqual(program.say("text"), OLD_TEXT)

    def test_duration(self):
        with Program(1) as program:
            patching = Patching(program, "--duration", "4", FIX, *BOTH)
            old = program.calls()[0]
            if patching.process.poll() is None:
                self.assertEqual(old, 0)
            self.assertEqual(patching.process.communicate(timeout=30), ("", ""))
            self.assertEqual(patching.process.returncode, 0)
            self.assertEqual(program.calls()[1], 0)

    def test_program_that_ends(self):
        with Program(1) as program:
            patching = Patching(program, FIX, *BOTH)
        self.assertEqual(patching.process.communicate(timeout=30), ("", ""))
        self.assertEqual(patching.process.returncode, 0)

    def refused(self, program, words, *arguments, status=1):
        maps, state = program.maps(), program.state()
        result = subprocess.run([TRAPLINE, "patch", "-p", str(program.pid), *arguments], text=True,
                                capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        self.assertRegex(result.stderr, words)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertEqual((program.maps(), program.state()), (maps, state))
        self.assertEqual(program.say("text"), OLD_TEXT)

    def test_refusals(self):
        with Program() as program, tempfile.TemporaryDirectory() as folder:
            stripped = os.path.join(folder, "stripped.so")
            subprocess.run(["strip", "-o", stripped, FIX], check=True)
            damaged = os.path.join(folder, "damaged.so")
            shutil.copy(FIX, damaged)
            with open(damaged, "r+b") as file:
                header = file.read(4096)
                at = next(at for at in range(64, 1024, 56) if header[at] == 2)  # PT_DYNAMIC
                file.seek(at + 16)
                file.write(b"\xff" * 8)
            for fix, words in ((TLS, "thread-local"), (CONSTRUCTOR, "has constructors"),
                               (SYMBOL, "needs nobody_has_this, which neither"), (IFUNC, "has an IFUNC"),
                               (stripped, "has constructors, or is stripped")):
                self.refused(program, words, fix, "value")
            self.refused(program, "damaged", damaged, "value")
            self.refused(program, "its first instruction works at its own place alone", ORIGINAL, "counted=placed")
            self.refused(program, "first instruction", FIX, "loops=value")
            self.refused(program, "four", FIX, *("value",) * 5)
            self.refused(program, "twice", FIX, "value", "value=new_second")
            self.refused(program, "inside a function", FIX, f"0x{self.address(program) + 1:x}=value")
            self.refused(program, "does not listen", "--list")
            self.refused(program, "does not listen", "--revert", "1")
            self.refused(program, "not a number of seconds", "--duration", "x", FIX, "value", status=2)

    def test_fix_that_calls_the_old_function(self):
        with Program(4) as program:
            for _ in range(2):
                self.assertEqual(program.say("placed"), "50 50")
                patching = Patching(program, ORIGINAL, "value", "second=new_second", "placed")
                old, _, _, with_new = program.calls()
                self.assertEqual(program.say("placed"), "1050 50")
                self.assertNotRegex(program.maps(), "rwxp")
                self.assertEqual(patching.end(), (0, "", ""))
                self.assertEqual((old, with_new), (0, 4))
                self.assertEqual(program.calls()[1:], (0, 4, 0))

    def test_threads_that_block_the_signal_are_counted(self):
        with Program(2) as program:
            self.assertEqual((program.say("block"), program.say("block")), ("block 0", "block 0"))
            patching = Patching(program, "--stats", FIX, *BOTH)
            self.assertEqual(program.calls()[0], 0)
            status, _, told = patching.end()
            self.assertEqual(status, 0)
            self.assertRegex(told, r"^trapline: 2 of 5 threads of process \d+ go on calling the old functions: they have ")
            self.assertRegex(told, r"\n +2  threads-unpatched ")
            self.assertRegex(told, r"\n +\d\d+  calls-redirected ")

    def test_handlers_on_alternate_stacks(self):
        with Program(2) as program:
            self.assertEqual(program.say("stack"), "stack 0")
            self.refused(program, "alternate stacks", FIX, "value")
            patching = Patching(program, "--anyway", FIX, *BOTH)
            self.assertEqual(program.calls()[0], 0)
            program.begin(4)
            ends, old = time.monotonic() + 30, 1
            while old and time.monotonic() < ends:
                old, _, _, with_new = program.calls()
            self.assertEqual((old, with_new), (0, 6))
            status, _, told = patching.end()
            self.assertEqual(status, 0)
            self.assertRegex(told, r"^trapline: handlers of process \d+ run on alternate stacks: threads that it makes later [^\n]+\n$")
            self.assertEqual(program.calls()[1:], (0, 6, 0))

    def test_under_another_trapline(self):
        with Program(under=(TRAPLINE, "throttle", "--cpu", "90%", "--")) as program:
            self.refused(program, "under another trapline.*--patchable", FIX, "value")

    def address(self, program):
        symbols = subprocess.run(["nm", PATCHED], capture_output=True, text=True, check=True).stdout
        base = int(program.maps().split("-")[0], 16)
        offset = int(re.search(r"([0-9a-f]+) [Tt] value\n", symbols).group(1), 16)
        with open(PATCHED, "rb") as file:
            return offset + (base if file.read(17)[16] == 3 else 0)


if __name__ == "__main__":
    unittest.main(verbosity=1)
