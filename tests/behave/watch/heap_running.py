# SPDX-License-Identifier: Apache-2.0
"""`trapline watch -p PID heap:SIZE@FUNCTION`: a block from its birth to its death, and nothing else's.

usage: heap_running.py TRAPLINE PROGRAM STATIC [TEST…]"""
import os
import re
import signal
import subprocess
import sys
import time
import unittest

TRAPLINE, PROGRAM, STATIC = sys.argv[1:4]


def traces(pid):
    with open(f'/proc/{pid}/maps', encoding='utf-8') as file:
        code = sorted(line.split()[-1] for line in file if 'r-xp' in line or 'trapline' in line)
    with open(f'/proc/{pid}/status', encoding='ascii', errors='replace') as file:
        return code, [line for line in file if line.startswith(('SigCgt', 'SigIgn', 'TracerPid'))]


class HeapRunning(unittest.TestCase):
    def watch(self, program, *arguments, more=()):
        """Status and text of a watch of three seconds; the program is as it was and ends well."""
        with subprocess.Popen([program, '6', '2', *more], stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), 'ready\n')
            before = traces(process.pid)
            done = subprocess.run([TRAPLINE, 'watch', '-p', str(process.pid), '--duration', '3', *arguments],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertIsNone(process.poll())
            self.assertEqual(traces(process.pid), before)
            self.assertEqual(process.stdout.read(), 'ok\n')
            self.assertEqual(process.wait(), 0)
        return done.returncode, done.stderr

    def check_whole_lives(self, program):
        status, text = self.watch(program, 'heap:48@make+8:4', '--count')
        self.assertEqual(status, 0, text)
        blocks = int(re.search(r'(\d+) blocks? w', text)[1])
        hits = int(re.search(r'make\+8:4: (\d+) hits', text)[1])
        self.assertGreater(blocks, 0, text)
        # Written three times; the last one's life may have been cut by the end, or by what free() of
        # another does. None by who has the memory next.
        self.assertLessEqual(hits, 3 * blocks, text)
        self.assertGreaterEqual(hits, 3 * blocks - blocks // 2 - 3, text)
        self.assertNotIn('write  other ', text)

    def test_whole_lives(self):
        self.check_whole_lives(PROGRAM)

    def test_static(self):
        self.check_whole_lives(STATIC)

    def test_other_function(self):
        """Nothing that make() allocates is told as other()'s."""
        status, text = self.watch(PROGRAM, 'heap:48@other+8:4', '--if', 'new != 7')
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r'[1-9]\d* blocks? w')
        self.assertRegex(text, r'other\+8:4: 0 hits')

    def test_in_turn(self):
        """One whose function is not called does not keep the others waiting."""
        status, text = self.watch(PROGRAM, 'heap:48@never+8:4', 'heap:48@make+8:4')
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r'never\+8:4: no such block')
        self.assertRegex(text, r'make\+8:4: [1-9]\d* blocks? w')

    def test_no_such_size(self):
        status, text = self.watch(PROGRAM, 'heap:56@make+8:4')
        self.assertEqual(status, 0, text)
        self.assertIn('no such block', text)

    def test_end_that_may_be_missed(self):
        """Threads that come later are not covered: nothing is watched, and why is said."""
        status, text = self.watch(PROGRAM, 'heap:48@make+8:4', '--count', more=['stack'])
        self.assertEqual(status, 0, text)
        self.assertIn('no block was watched: some thread', text)

    def test_stopped(self):
        """400 calls while trapline is stopped: of 20 ms each they would take 8 s."""
        with subprocess.Popen([PROGRAM, 'calls', '400'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), 'ready\n')
            with subprocess.Popen([TRAPLINE, 'watch', '-p', str(process.pid), 'heap:48@make+8:4', '--stats=all'],
                                  stderr=subprocess.PIPE, text=True) as watch:
                self.assertIn('is entered', watch.stderr.readline())
                time.sleep(2)  # a breakpoint is at make() then, but for moments
                watch.send_signal(signal.SIGSTOP)
                process.stdin.write('\n')
                process.stdin.flush()
                took = int(process.stdout.readline())
                watch.send_signal(signal.SIGCONT)
                self.assertEqual(process.wait(), 0)
                text = watch.stderr.read()
            self.assertLess(took, 5000, text)

    def test_refused(self):
        """Of more bytes than slots are left for, of names that there are not."""
        status, text = self.watch(PROGRAM, 'heap:48@make+8:4', 'end', 'wrong')
        self.assertIn('left too few hardware watchpoints', text)
        for expressions in (['heap:48@make'], ['heap:48@no_such+8:4'], ['end', 'wrong', 'heap:48@make+8:4'],
                            ['heap:48@make+8:4', '--budget', '1']):
            status, text = self.watch(PROGRAM, *expressions)
            self.assertEqual(status, 2, (expressions, text))
            self.assertNotIn('hits', text)


if __name__ == '__main__':
    if subprocess.run([TRAPLINE, 'doctor', '--json'], capture_output=True, check=False).returncode:
        sys.exit(77)
    assert os.access(STATIC, os.X_OK)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
