#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trapline run -- PROGRAM` and `trapline patch`: replaced, listed, reverted, refused.

usage: tests/cli/patch.py build/trapline PATCHABLE FIX.so"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reachable import reachable  # pylint: disable=wrong-import-position

TRAPLINE, PATCHABLE, FIX = reachable(*(sys.argv.pop(1) for _ in range(3)))
OLD = "value 1 second 2"
NEW = "value 1001 second 1002"
BOTH = ("value", "second=new_second")


def patch(pid, *arguments, wrap=()):
    return subprocess.run([*wrap, TRAPLINE, "patch", "-p", str(pid), *arguments],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                          check=False)


# What a program may be started by that is to be patched.
STARTS = {
    "run": (),
    "race": ("--patchable", "-q"),
    "watch": ("variable", "--patchable"),
    "throttle": ("--cpu", "90%", "--patchable"),
}


class Program:
    def __init__(self, bare=False, by="run", options=()):
        command = [PATCHABLE] if bare else [TRAPLINE, by, *STARTS[by], *options, "--", PATCHABLE]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.pid = int(re.match(r"pid (\d+) doubled 7 chosen 4 loops 7",
                                self.process.stdout.readline()).group(1))

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        status = self.process.wait(timeout=30)
        self.process.stdout.close()
        assert status == 0, f"the program ended with {status}"


class Patch(unittest.TestCase):
    def applies(self, program, number, *options):
        program.say("new")
        result = patch(program.pid, *options, FIX, *BOTH)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, rf"^patch {number} applied.*value second=new_second\n$")
        self.assertEqual(program.say("call"), NEW)

    def reverts(self, program, number):
        program.say("old")
        result = patch(program.pid, "--revert", str(number))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(program.say("call"), OLD)

    def refused(self, program, status, words, *arguments, wrap=()):
        result = patch(program.pid, *arguments, wrap=wrap)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        self.assertRegex(result.stderr, words)
        self.assertEqual(program.say("call"), OLD)

    def test_apply_list_revert(self):
        with Program() as program:
            self.assertEqual(program.say("call"), OLD)
            for number in range(1, 21):
                self.applies(program, number)
                listed = patch(program.pid, "--list")
                self.assertEqual(listed.stdout, f"{number}  {FIX} value second=new_second\n")
                self.reverts(program, number)
            self.assertEqual(patch(program.pid, "--list").stdout, "")
            self.assertEqual(program.say("mixed"), "mixed 0")

    def test_while_it_is_watched(self):
        for by in ("race", "watch", "throttle"):
            with self.subTest(by=by), Program(by=by) as program:
                for number in (1, 2, 3):
                    self.applies(program, number)
                    self.reverts(program, number)
                # Its own handler of the signal that patching uses does not get in the way.
                self.assertEqual(program.say("handle"), "handled 1")
                self.applies(program, 4)
                self.assertEqual(program.say("handle"), "handled 2")
                self.reverts(program, 4)
                self.assertEqual(program.say("mixed"), "mixed 0")

    def test_a_child_while_it_is_watched(self):
        with Program(by="race") as program:
            self.applies(program, 1)
            program.pid = int(program.say("fork").split()[1])
            self.assertEqual(program.say("call"), NEW)
            self.reverts(program, 1)

    def test_breakpoints_while_it_is_watched(self):
        with Program(by="race", options=("--slots", "1")) as program:
            result = patch(program.pid, "--breakpoint", FIX, *BOTH)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(program.say("call"), NEW)
            self.reverts(program, 1)

    def test_twice_is_refused(self):
        with Program() as program:
            self.applies(program, 1)
            result = patch(program.pid, FIX, "value")
            self.assertEqual(result.returncode, 1)
            self.assertIn("replaced already", result.stderr)
            self.reverts(program, 1)
            self.refused(program, 1, "no patch of this number", "--revert", "1")

    def test_program_that_closes_everything_and_forks(self):
        with Program() as program:
            self.assertEqual(program.say("close"), "closed 0")
            self.applies(program, 1)
            child = program.say("fork")
            program.pid = int(child.split()[1])
            self.assertEqual(program.say("call"), NEW)
            self.reverts(program, 1)

    def test_addresses_and_modules(self):
        with Program() as program:
            name = os.path.basename(PATCHABLE)
            result = patch(program.pid, FIX, f"{name}:value")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(program.say("call"), "value 1001 second 2")
            self.reverts(program, 1)
            result = patch(program.pid, FIX, "patchable.c:second=new_second")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(program.say("call"), "value 1 second 1002")
            self.reverts(program, 2)

    def test_refusals(self):
        with Program() as program:
            for status, words, arguments in (
                    (1, "inlined at 1 place, first in uses_doubled", (FIX, "doubled=value")),
                    (1, "IFUNC", (FIX, "chosen=value")),
                    (1, "first instruction", (FIX, "loops=value")),
                    (1, "is a variable", (FIX, "variable=value")),
                    (1, "variable of the fix", (FIX, "value=fix_variable")),
                    (1, "nothing_like_it is not a function of the fix",
                     (FIX, "value=nothing_like_it")),
                    (1, "nothing_such", (FIX, "nothing_such=value")),
                    (1, "cannot be read", ("/nowhere/fix.so", "value")),
                    (2, "OLD=NEW is missing", (FIX,)),
                    (2, "take no FIX", ("--list", FIX)),
                    (1, "no patch of this number", ("--revert", "77")),
                    (2, "not a number", ("--revert", "x"))):
                self.refused(program, status, words, *arguments)
            self.refused(program, 1, "first instruction", FIX, "value", "loops=value")

    def test_original(self):
        with Program() as program:
            result = patch(program.pid, FIX, "third=adding")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(program.say("third"), "third 503")
            self.reverts(program, 1)
            self.assertEqual(program.say("third"), "third 3")
            self.refused(program, 1, "only told when", "--breakpoint", FIX, "third=adding")

    def test_constant_original(self):
        with Program() as program:
            self.refused(program, 1, "must not be const", FIX, "uses_doubled=constant")

    def test_inlined_anyway(self):
        with Program() as program:
            result = patch(program.pid, "--anyway", FIX, "doubled=value")
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_program_that_does_not_listen(self):
        with Program(bare=True) as program:
            self.refused(program, 1, "does not listen.*--patchable", "--list")
            self.refused(program, 1, "does not listen.*--patchable", "--revert", "1")
        self.assertEqual(patch(2 ** 22, "--list").returncode, 1)

    def test_another_file_at_the_path(self):
        with Program() as program, tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = os.path.join(folder, "fix.so")
            shutil.copy(FIX, path)
            result = patch(program.pid, path, "value")
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    @unittest.skipIf(os.geteuid() != 0, "needs root to become others")
    def test_users(self):
        nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        with Program() as program:
            self.refused(program, 1, "gave no answer", "--list", wrap=nobody)
            self.assertEqual(program.say("user"), "user 65534")
            self.applies(program, 1)

    def test_execution_breakpoints(self):
        with Program() as program:
            result = patch(program.pid, "--breakpoint", FIX, *BOTH)
            if result.returncode and "breakpoint" in result.stderr:
                self.skipTest(result.stderr)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("on breakpoints", result.stdout)
            self.assertEqual(program.say("call"), NEW)
            self.reverts(program, 1)


if __name__ == "__main__":
    unittest.main(verbosity=1)
