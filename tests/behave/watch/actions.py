#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What trapline watch does at a hit: --stop, --abort, --exec and --gdb, each while the thread still
is at its access.

Usage: actions.py TRAPLINE ACT LOCAL TURN
"""
import contextlib
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TRAPLINE, ACT, LOCAL, TURN = sys.argv[1:5]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'act.c')
with open(SOURCE, encoding='utf-8') as opened:
    WRITE = next(i for i, text in enumerate(opened, 1) if '/* the write */' in text)


def watch(*arguments, **options):
    result = subprocess.run([TRAPLINE, 'watch', *arguments], capture_output=True, text=True,
                            timeout=100, check=False, **options)
    lines = [line for line in result.stderr.splitlines() if re.match(r' *\d+\.\d{6}  ', line)]
    return result, lines


def state(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
        return file.read().rpartition(')')[2].split()[0]


def gdb_reads(path):
    for name in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError), open(f'/proc/{name}/cmdline', 'rb') as file:
            words = file.read().split(b'\0')
            if words[0] == b'gdb' and path.encode() in words:
                return True
    return False


def value(pid):
    """The program's own `counter`."""
    symbols = subprocess.run(['nm', ACT], capture_output=True, text=True, check=True).stdout
    offset = int(re.search(r'^(\w+) . counter$', symbols, re.M)[1], 16)
    with open(f'/proc/{pid}/maps', encoding='utf-8') as maps:
        base = int(next(line for line in maps if line.rstrip().endswith(os.path.realpath(ACT))
                        ).split('-')[0], 16)
    with open(f'/proc/{pid}/mem', 'rb', buffering=0) as memory:
        memory.seek(base + offset)
        return int.from_bytes(memory.read(4), 'little')


class Actions(unittest.TestCase):
    def test_abort_is_at_the_access(self):
        result, lines = watch('counter', '--if', 'new == 7', '--abort', '--', ACT, '20')
        self.assertEqual((result.returncode, result.stdout), (6, '7 in increment\n'))
        self.assertEqual(len(lines), 1)

    def test_stop_is_at_the_access_and_the_program_goes_on(self):
        command = [TRAPLINE, 'watch', 'counter', '--first', '2', '--every', '4', '--stop', '--',
                   ACT, '20']
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as run:
            for line in run.stderr:
                hit = re.search(r'/(\d+) .*→ (\d+)', line)
                if not hit:
                    break
                pid = int(hit[1])
                with open(f'/proc/{pid}/status', encoding='utf-8') as status:
                    process = int(re.search(r'Tgid:\s+(\d+)', status.read())[1])
                deadline = time.monotonic() + 20
                while state(process) != 'T' and time.monotonic() < deadline:
                    time.sleep(0.01)
                self.assertEqual(state(process), 'T')
                self.assertEqual(value(process), int(hit[2]))
                os.kill(process, signal.SIGCONT)
            run.stderr.read()
            self.assertEqual((run.stdout.read(), run.wait()), ('20\n', 7))

    def test_exec_while_the_thread_waits(self):
        with tempfile.NamedTemporaryFile('r') as file:
            # Twice with time between: a thread that is held makes no progress.
            command = (f'cat /proc/$TRAPLINE_PID/task/$TRAPLINE_TID/comm >> {file.name}; '
                       f'cut -d" " -f1 /proc/$TRAPLINE_PID/task/$TRAPLINE_TID/syscall >> {file.name};'
                       f'sleep 0.2;'
                       f'cut -d" " -f1 /proc/$TRAPLINE_PID/task/$TRAPLINE_TID/syscall >> {file.name}')
            result, _ = watch('counter', '--first', '2', '--exec', command, '--', ACT, '5')
            told = file.read()
        self.assertEqual((result.returncode, result.stdout), (7, '5\n'), result.stderr)
        futex = '202'
        self.assertEqual(told.split(), ['writer', futex, futex] * 2)
        # Its failure is the command's own affair.
        result, _ = watch('counter', '--exec', 'exit 3', '--', ACT, '2')
        self.assertEqual((result.returncode, result.stdout), (7, '2\n'), result.stderr)

    def test_only_one_action(self):
        for pair in (['--stop', '--abort'], ['--exec', 'true', '--count'],
                     ['--gdb=/dev/null', '--stop']):
            result, _ = watch('counter', *pair, '--', ACT)
            self.assertEqual(result.returncode, 2)
            self.assertIn('only one of', result.stderr)


@unittest.skipUnless(shutil.which('gdb'), 'gdb is not installed')
class Debugger(unittest.TestCase):
    def with_commands(self, commands, *arguments):
        with tempfile.NamedTemporaryFile('w', suffix='.gdb') as file:
            file.write(commands)
            file.flush()
            return watch(*arguments[:arguments.index('--')], f'--gdb={file.name}',
                         *arguments[arguments.index('--'):])

    def test_the_thread_stands_at_its_access(self):
        commands = ('bt 2\nprint counter\nthread\nprint $_thread\n'
                    'printf "at %p\\n", $trapline_address == &counter\n'
                    # All the hardware is gdb's now.
                    'watch counter\nhbreak after\nhbreak main\nhbreak work\ncontinue\n'
                    'print counter\n')
        result, lines = self.with_commands(commands, 'counter', '--if', 'new == 7', '--', ACT, '20')
        self.assertEqual((result.returncode, result.stdout), (7, '20\n'), result.stderr)
        self.assertEqual(len(lines), 1)
        self.assertRegex(result.stderr, rf'#0 .*increment \(\) at .*act\.c:({WRITE}|{WRITE + 1})\n')
        self.assertRegex(result.stderr, r'#1 .* work ')
        self.assertRegex(result.stderr, r'<increment\+\d+>:\s+mov .*<counter>')
        self.assertIn('$1 = 7\n', result.stderr)
        self.assertRegex(result.stderr, r'Current thread is \d+ .*"writer"|writer')
        self.assertIn('at 0x1\n', result.stderr)
        self.assertIn('Old value = 7\nNew value = 8', result.stderr)
        self.assertIn('$3 = 8\n', result.stderr)

    def test_before_a_function_runs(self):
        result, _ = self.with_commands('bt 1\nprint counter\n', 'increment', '--first', '1', '--',
                                       ACT, '3')
        self.assertEqual((result.returncode, result.stdout), (7, '3\n'), result.stderr)
        self.assertRegex(result.stderr, rf'#0  increment \(\) at .*act\.c:({WRITE}|{WRITE - 1})\n')
        self.assertIn('$1 = 0\n', result.stderr)

    def test_watching_goes_on_afterwards(self):
        """Each hit once more: gdb's end gives the hardware back."""
        result, lines = self.with_commands('print mine\nshell sleep 0.1\n', 'mine', '--first', '2',
                                           '--no-follow', '--', LOCAL, '1', '1')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreaterEqual(len(lines), 1)
        self.assertIn('$1 = 1\n', result.stderr)

    def test_pointers_are_followed_afterwards(self):
        """The slot that waits for the pointer to change is given back, too, and waits again, whatever --if says."""
        with tempfile.NamedTemporaryFile('w', suffix='.gdb') as file:
            file.write('print head->state\ndetach\n')
            file.flush()
            command = [TRAPLINE, 'watch', 'head->state', '--follow', '--if', 'new < 100', f'--gdb={file.name}', '--',
                       TURN]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as run:
                self.assertEqual(run.stdout.readline(), 'written\n')
                while gdb_reads(file.name):
                    time.sleep(0.05)
                time.sleep(1) # that it has ended is looked for 50 times a second
                _, errors = run.communicate('\n', timeout=100)
        self.assertEqual(run.returncode, 0, errors)
        self.assertEqual(re.findall(r'write head->state  .* → (\d+) ', errors), ['3', '5'], errors)

    def test_on_the_terminal(self):
        """gdb talks to its user there although the program's own input and output are elsewhere."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.dup2(os.open('/dev/null', os.O_RDWR), 0)
            os.execv(TRAPLINE, [TRAPLINE, 'watch', 'counter', '--if', 'new == 3', '--gdb', '--', ACT,
                                '5'])
        output = b''

        def until(text):
            nonlocal output
            deadline = time.monotonic() + 60
            while text not in output and time.monotonic() < deadline:
                try:
                    output += os.read(terminal, 4096)
                except OSError:
                    break
            self.assertIn(text, output)
            output = output[output.index(text) + len(text):]

        until(b'(gdb) ')
        os.write(terminal, b'print counter + 1000\n')
        until(b'= 1003')
        os.write(terminal, b'detach\n')
        until(b'detached')
        os.write(terminal, b'quit\n')
        until(b'trapline: counter: ')
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7)

    def test_what_cannot_be(self):
        result, _ = watch('counter', '--gdb=/nowhere/file', '--', ACT)
        self.assertEqual(result.returncode, 2)
        self.assertIn('cannot be read', result.stderr)
        result, _ = watch('counter', '--gdb', '--', ACT, stdin=subprocess.DEVNULL,
                          start_new_session=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn('needs a terminal', result.stderr)
        # Without gdb the program goes on.
        result, _ = watch('counter', '--gdb=/dev/null', '--', ACT, '2',
                          env={**os.environ, 'PATH': '/nowhere'})
        self.assertEqual((result.returncode, result.stdout), (7, '2\n'))
        self.assertIn('gdb cannot be run', result.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
