#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline watch --top in a terminal: what it draws, its keys, and the terminal as it was.

Usage: top.py TRAPLINE HOT RUNNING
"""
import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
import unittest

TRAPLINE, HOT, RUNNING = sys.argv[1:4]
ENTER, LEAVE = '\x1b[?1049h', '\x1b[?1049l'


class Terminal:
    """trapline with a terminal of its own."""

    def __init__(self, *arguments):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # A shell without job control starts what runs in the background with these ignored.
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            os.execv(TRAPLINE, [TRAPLINE, 'watch', *arguments])
        self.text = ''
        self.mode = termios.tcgetattr(self.fd)[3]

    def read(self, seconds=0.05):
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # its end
                return False
            if not data:
                return False
            self.text += data.decode(errors='replace')
        return True

    def wait_for(self, pattern, start=0):
        deadline = time.monotonic() + 30
        while not re.search(pattern, self.text[start:]):
            if not self.read() or time.monotonic() > deadline:
                raise AssertionError(f'{pattern!r} not in {self.text[start:][-1500:]!r}')
        return len(self.text)

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        while self.read(1):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


@contextlib.contextmanager
def running(*arguments):
    """A program that runs already, and whatever happens not any more."""
    program = subprocess.Popen([RUNNING, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield program
    finally:
        program.kill()
        program.wait()
        program.stdin.close()
        program.stdout.close()


class Top(unittest.TestCase):
    def test_table(self):
        terminal = Terminal('hot', '--top', '--', HOT, '60000', '100')
        terminal.wait_for(re.escape(ENTER))
        terminal.wait_for(r'sorted by count')
        terminal.wait_for(r'\d+ +\d+ write +\d+ watch_hot +touch hot\.c:\d+')
        for key, order in (('r', 'rate'), ('p', 'place'), ('l', 'last'), ('c', 'count')):
            start = len(terminal.text)
            terminal.press(key)
            terminal.wait_for(f'sorted by {order}', start)
        self.assertFalse(termios.tcgetattr(terminal.fd)[3] & (termios.ECHO | termios.ICANON))
        self.assertEqual(terminal.end(), 0)
        self.assertIn(LEAVE, terminal.text)
        after = terminal.text[terminal.text.index(LEAVE):]
        # What the program said, and then the whole table with every hit.
        self.assertRegex(after, r'\d\.\d+ 60000\r\n')
        self.assertRegex(after, r' 60000  write  touch hot\.c')
        self.assertNotRegex(terminal.text[:terminal.text.index(LEAVE)], r'0 60000\r\n')

    def test_quit_goes_on(self):
        terminal = Terminal('hot', '--top', '--', HOT, '60000', '100')
        terminal.wait_for('touch hot')
        terminal.press('q')
        terminal.wait_for('the program runs on')
        self.assertEqual(termios.tcgetattr(terminal.fd)[3], terminal.mode)
        self.assertEqual(terminal.end(), 0)
        self.assertRegex(terminal.text, r' 60000  write  touch hot\.c')

    def test_running_program(self):
        with running('2', '100000') as program:
            self.assertEqual(program.stdout.readline(), b'ready\n')
            terminal = Terminal('-p', str(program.pid), 'shared', '--top')
            terminal.wait_for('sorted by count')
            program.stdin.write(b'\n')
            program.stdin.flush()
            terminal.wait_for(r'write +\d+ early +store running')
            terminal.press('q')
            self.assertEqual(terminal.end(), 0)
            self.assertIsNone(program.poll())

    def test_interrupted(self):
        """Ctrl-C ends the program as ever, and the terminal is as it was."""
        terminal = Terminal('hot', '--top', '--', HOT, '300000000', '100')
        terminal.wait_for('touch hot')
        terminal.press('\x03')
        self.assertEqual(terminal.end(), -signal.SIGINT)
        self.assertIn(LEAVE, terminal.text)

    def test_quit_by_signal(self):
        """Of a program that runs already nothing is ended but the watching, and the terminal is as it was."""
        with running('1', '1') as program:
            self.assertEqual(program.stdout.readline(), b'ready\n')
            terminal = Terminal('-p', str(program.pid), 'shared', '--top')
            terminal.wait_for('sorted by count')
            terminal.press('\x1c')
            self.assertEqual(terminal.end(), 0)
            self.assertIn(LEAVE, terminal.text)
            self.assertIsNone(program.poll())

    def test_without_terminal(self):
        result = subprocess.run([TRAPLINE, 'watch', 'hot', '--top', '--', HOT], capture_output=True,
                                text=True, start_new_session=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout), (1, ''))
        self.assertIn('needs a terminal', result.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
