#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gdb and strace at a program that `trapline race` watches: attached later, from outside, and around it
from its first instruction on. The program ends as ever and gdb stops at its own breakpoints alone.

Usage: debuggers.py TRAPLINE PROGRAM
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TRAPLINE, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:3])
OUTPUT = 'passed\n200 marks\n'
GDB = ['gdb', '-q', '-nx', '-batch', '-ex', 'set debuginfod enabled off', '-ex', 'set breakpoint pending on']


def status_of(pid):
    with open(f'/proc/{pid}/status', encoding='utf-8') as file:
        return file.read()


def can_trace():
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(['strace', '-o', folder + '/log', 'true'], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return False
    return 'TracerPid:\t0' in status_of('self')


class Watched:
    """The program under `trapline race`."""

    def __init__(self):
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [TRAPLINE, 'race', '-q', '--stats=all', '--', PROGRAM], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.pid = self.find()

    def find(self):
        """Its id, once it runs and has threads."""
        for _ in range(500):
            with open(f'/proc/{self.process.pid}/task/{self.process.pid}/children', encoding='ascii') as file:
                found = file.read().split()
            if found and len(os.listdir(f'/proc/{found[0]}/task')) == 4:
                return found[0]
            time.sleep(0.01)
        raise AssertionError('the program did not start its threads')

    def end(self):
        output, errors = self.process.communicate(timeout=60)
        return self.process.returncode, output, errors


def counted(errors, name):
    found = re.search(rf'^ *(\d+)  {name}  ', errors, re.M)
    return int(found.group(1)) if found else None


@unittest.skipUnless(can_trace(), 'this process cannot trace others')
class Debuggers(unittest.TestCase):
    @unittest.skipUnless(shutil.which('gdb'), 'no gdb')
    def test_gdb_later(self):
        """It meets no more SIGTRAPs than were on their way when it came, one for each of four threads."""
        watched = Watched()
        gdb = subprocess.run([*GDB, '-ex', 'handle SIGTRAP nostop print nopass', '-ex', 'break break_here', '-ex',
                              'continue', '-ex', 'detach', '-p', watched.pid],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
        status, output, errors = watched.end()
        self.assertEqual((status, output), (3, OUTPUT), gdb.stdout + gdb.stderr + errors)
        self.assertRegex(gdb.stdout, r'hit Breakpoint 1, .*break_here')
        self.assertLessEqual(gdb.stdout.count('received signal SIGTRAP'), 4, gdb.stdout)
        self.assertEqual(counted(errors, 'debuggers'), 1, errors)

    def test_strace_later(self):
        """Hits that were under way when it came are passed on by it."""
        watched = Watched()
        with tempfile.NamedTemporaryFile('r') as log:
            subprocess.run(['strace', '-f', '-o', log.name, '-p', watched.pid], stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=100, check=False)
            traced = log.read()
        status, output, errors = watched.end()
        self.assertEqual((status, output), (3, OUTPUT), errors)
        self.assertEqual(counted(errors, 'debuggers'), 1, errors)
        self.assertIn('+++ exited with 3 +++', traced)

    @unittest.skipUnless(shutil.which('gdb'), 'no gdb')
    def test_gdb_around(self):
        done = subprocess.run([TRAPLINE, 'race', '-q', '--', *GDB, '-ex', 'break break_here', '-ex', 'run', '-ex',
                               'continue', PROGRAM], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=100, check=False)
        self.assertNotIn('SIGTRAP', done.stdout)
        self.assertRegex(done.stdout, r'hit Breakpoint 1, .*break_here')
        self.assertIn('200 marks', done.stdout)
        self.assertRegex(done.stdout, r'exited with code 03')

    def test_strace_around(self):
        with tempfile.NamedTemporaryFile('r') as log:
            done = subprocess.run([TRAPLINE, 'race', '-q', '--', 'strace', '-f', '-o', log.name, PROGRAM],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
            traced = log.read()
        self.assertEqual((done.returncode, done.stdout), (3, OUTPUT), done.stderr)
        self.assertEqual(traced.count('--- SIGTRAP'), 0)

    def test_traced_from_the_start(self):
        """strace around trapline: signals are passed on, so it is watched all the same."""
        done = subprocess.run(['strace', '-f', '-o', '/dev/null', TRAPLINE, 'watch', 'noise_marks', '--count', '--',
                               PROGRAM], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (3, OUTPUT), done.stderr)
        self.assertIn('noise_marks: 200 hits', done.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
