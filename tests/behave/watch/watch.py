#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline watch on small programs whose accesses are known: exact counts, lines and values.

Usage: watch.py TRAPLINE COUNT LATER MODULE MAPPED EARLY
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from keys import has_keys  # noqa: E402

TRAPLINE, COUNT, LATER, MODULE, MAPPED, EARLY = sys.argv[1:7]
# Not whatever `python3` is: that may be a script of another shell, whose calls would count.
PYTHON = sys.executable
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'count.c')


def line_of(comment):
    with open(SOURCE, encoding='utf-8') as file:
        return next(i for i, text in enumerate(file, 1) if comment in text)


WRITE, READ = line_of('/* the write */'), line_of('/* the read */')


def state(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
        return file.read().rpartition(')')[2].split()[0]


def watch(*arguments):
    result = subprocess.run([TRAPLINE, 'watch', *arguments], capture_output=True, text=True,
                            timeout=120, check=False)
    lines = [line for line in result.stderr.splitlines() if re.match(r' *\d+\.\d{6}  ', line)]
    return result, lines


def writes(*arguments):
    """What reaches standard error, a string per write(2)."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, subprocess.Popen([TRAPLINE, *arguments], stdout=subprocess.DEVNULL,
                                stderr=theirs) as process:
        theirs.close()
        ours.settimeout(0.2)
        written, ended = [], False
        while True:
            try:
                written.append(ours.recv(1 << 16).decode())
            except TimeoutError:
                if ended:
                    return written
                ended = process.poll() is not None


def table(result):
    """{(operation, place): count}"""
    rows = re.findall(r'^ +(\d+)  (\S+) +(.*)$', result.stderr, re.M)
    return {(operation, place): int(count) for count, operation, place in rows}


class Watch(unittest.TestCase):
    def test_writes_of_threads_and_children(self):
        result, lines = watch('counter', '--', COUNT, '5', '2', '1')
        self.assertEqual((result.returncode, result.stdout), (7, '10\n'))
        self.assertEqual(len(lines), 15)
        place = f'increment count.c:{WRITE}'
        for value, line in enumerate(lines):
            self.assertIn(f'write counter  {value} → {value + 1}  {place}', line)
        for name, start in (('even', 0), ('odd', 5), ('child', 10)):
            self.assertTrue(all(f' {name}/' in line for line in lines[start:start + 5]), lines)
        self.assertEqual(table(result), {('write', place): 15})
        self.assertIn('counter: 15 hits\n', result.stderr)

    def test_what_belongs_together_is_one_write(self):
        """The program may write to the same file or terminal: no line is torn."""
        written = writes('watch', 'counter', '--stack', '--', COUNT, '5', '1')
        hits = [text for text in written if re.match(r' *\d+\.\d{6}  ', text)]
        self.assertEqual(len(hits), 5, written)
        self.assertTrue(all(text.endswith('\n') for text in written), written)
        self.assertTrue(all('#0 increment' in text for text in hits), hits)

    def test_only_the_program_itself(self):
        result, lines = watch('counter', '--no-follow', '--', COUNT, '3', '1', '2')
        self.assertEqual(len(lines), 3, result.stderr)

    def test_thousands_in_a_row(self):
        result, lines = watch('counter', '--count', '--', COUNT, '20000', '2')
        self.assertEqual(lines, [])
        self.assertEqual(table(result), {('write', f'increment count.c:{WRITE}'): 40000})

    def test_reads_alone(self):
        result, lines = watch('counter:r', '--', COUNT, '0')
        self.assertTrue(all(' read ' in line for line in lines))
        self.assertEqual(table(result)[('read', f'look count.c:{READ}')], 1)

    def test_execution_by_function_and_line(self):
        result, lines = watch('increment', f'count.c:{READ}', '--', COUNT, '3', '1', '1')
        self.assertEqual(len([line for line in lines if 'exec  increment' in line]), 6)
        self.assertEqual(len([line for line in lines if f'exec  count.c:{READ}' in line]), 1)
        self.assertEqual(result.returncode, 7)

    def test_condition(self):
        result, lines = watch('counter', '--if', 'new > 8 && old != 10', '--', COUNT, '12', '1')
        self.assertEqual([re.search(r'→ (\d+)', line)[1] for line in lines], ['9', '10', '12'])
        self.assertIn('the kernel counted 12', result.stderr)

    def test_thread_first_every_not_from(self):
        self.assertEqual(len(watch('counter', '--thread', 'od*', '--', COUNT, '4', '2')[1]), 4)
        result, lines = watch('counter', '--first', '2', '--every', '3', '--', COUNT, '10', '1')
        self.assertEqual([re.search(r'→ (\d+)', line)[1] for line in lines], ['1', '4'])
        self.assertEqual(sum(table(result).values()), 10)
        self.assertEqual(watch('counter', '--not-from', 'work', '--', COUNT, '4', '1')[1], [])

    def test_refused_in_the_program(self):
        """Tens of thousands refused, none sent out: the few that pass are right, all are counted."""
        result, lines = watch('counter', '--if', '(new & 0x1fff) == 0 || new == old + 2', '--stats',
                              '--', COUNT, '20000', '2')
        self.assertEqual([re.search(r'(\d+) → (\d+)', line)[2] for line in lines],
                         ['8192', '16384', '24576', '32768'])
        self.assertIn('39996 hits left out by --if', result.stderr)
        self.assertLess(int(re.search(r'(\d+)  hits +hits seen', result.stderr)[1]), 40)
        result, lines = watch('counter', '--every', '10000', '--', COUNT, '20000', '2')
        self.assertEqual([re.search(r'(\d+) → (\d+)', line).groups() for line in lines],
                         [('0', '1'), ('10000', '10001'), ('20000', '20001'), ('30000', '30001')])
        self.assertEqual(table(result), {('write', f'increment count.c:{WRITE}'): 40000})
        result, lines = watch('counter', '--thread', 'odd', '--count', '--', COUNT, '10000', '4')
        self.assertEqual(sum(table(result).values()), 20000)
        self.assertIn('20000 hits left out by --thread', result.stderr)
        result, lines = watch('counter:r', '--not-from', 'work', '--', COUNT, '10000', '1')
        self.assertEqual(len(lines), 2, result.stderr)
        result, lines = watch('counter', '--after', '60', '--', COUNT, '1000', '1')
        self.assertIn('1000 hits left out before --after', result.stderr)

    def test_stack(self):
        result, _ = watch('counter', '--stack', '--', COUNT, '1', '1')
        self.assertRegex(result.stderr, r'#0 increment .*\n +#1 work ')

    def test_json_lines(self):
        with tempfile.NamedTemporaryFile(suffix='.jsonl') as file:
            watch('counter', '-o', file.name, '--', COUNT, '2', '1')
            hits = [json.loads(line) for line in file.read().splitlines()]
        self.assertEqual([hit['kind'] for hit in hits], ['hit', 'hit'])
        self.assertEqual([(hit['old'], hit['new']) for hit in hits], [('0x0', '0x1'), ('0x1', '0x2')])
        functions = [frame['function'] for frame in hits[0]['accesses'][0]['stack']]
        self.assertEqual(functions[:2], ['increment', 'work'])

    def test_actions(self):
        result, lines = watch('counter', '--if', 'new == 7', '--abort', '--', COUNT, '20', '1')
        self.assertEqual((result.returncode, len(lines)), (-6, 1))
        result, _ = watch('counter', '--first', '1', '--exec', 'kill -KILL $TRAPLINE_PID', '--',
                          COUNT, '20', '1')
        self.assertEqual(result.returncode, -9)

    def test_stop(self):
        with subprocess.Popen([TRAPLINE, 'watch', 'counter', '--first', '1', '--stop', '--exec',
                               'true', '--', COUNT], stderr=subprocess.PIPE) as both:
            self.assertIn(b'only one of', both.stderr.read())
        command = [TRAPLINE, 'watch', 'counter', '--first', '1', '--stop', '--', COUNT, '3', '1']
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
            pid = int(re.search(r'/(\d+) ', run.stderr.readline())[1])
            deadline = time.monotonic() + 10
            while state(pid) != 'T' and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(state(pid), 'T')
            os.kill(pid, signal.SIGCONT)
            run.stderr.read()
            self.assertEqual(run.wait(), 7)

    def test_later_modules_and_pointers(self):
        """Nothing is missed between a change and its being noticed: there is a slot to see each."""
        result, lines = watch('late_variable', '--later', '--', LATER, MODULE)
        self.assertEqual([re.search(r'→ (\d+)', line)[1] for line in lines], ['10', '11', '12', '13'],
                         result.stderr)
        result, lines = watch('head->state', '--', LATER, MODULE)
        self.assertEqual([re.search(r'→ (\d+)', line)[1] for line in lines], ['3', '4'],
                         result.stderr)
        result, lines = watch('head->state', '--follow', '--', LATER, MODULE)
        self.assertEqual([re.search(r'→ (\d+)', line)[1] for line in lines], ['3', '4', '5'],
                         result.stderr)
        result, lines = watch('late_variable', 'head->state', '--later', '--follow', '--', LATER,
                              MODULE)
        self.assertEqual(len([line for line in lines if 'late_variable' in line]), 4, result.stderr)
        self.assertEqual(len([line for line in lines if 'head->state' in line]), 3, result.stderr)

    def test_a_module_is_not_watched_before_it_is_loaded(self):
        """The linker's own zeros in it are nobody's accesses."""
        result, lines = watch('late_variable', '--later', '--', MAPPED, MODULE)
        self.assertEqual([re.search(r'→ (\d+)', line)[1] for line in lines], ['10', '10', '11'],
                         result.stderr)

    def test_wrong_names_and_too_much(self):
        result, _ = watch('countr', '--', COUNT)
        self.assertEqual((result.returncode, result.stdout), (2, ''))
        self.assertIn("there is ", result.stderr)
        self.assertIn('counter', result.stderr)
        if not has_keys():
            result, _ = watch('0x1000:64', '--', COUNT)
            self.assertEqual(result.returncode, 2)
            self.assertIn('protection keys', result.stderr)
        for wrong in (['--', COUNT], ['counter'], ['counter', '--if', 'new =', '--', COUNT],
                      ['counter', '--first', 'x', '--', COUNT], ['a[', '--', COUNT]):
            self.assertEqual(watch(*wrong)[0].returncode, 2, wrong)

    def test_wrong_name_known_late(self):
        """A program that has begun, since nobody answered it in time, is not ended for it."""
        with subprocess.Popen([TRAPLINE, 'watch', 'no_such_name', '--', EARLY], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            self.assertEqual(run.stdout.readline(), 'begun\n')
            self.assertEqual(state(run.pid), 'T')
            run.send_signal(signal.SIGCONT)
            self.assertIn('no_such_name', run.stderr.readline())
            self.assertIn('runs unwatched', run.stderr.readline())
            run.stdin.write('\n')
            run.stdin.flush()
            self.assertEqual(run.wait(timeout=60), 7)

    def test_ignored_signals(self):
        """The program ignores what trapline was started with ignored, and nothing else."""
        line = ['grep', 'SigIgn', '/proc/self/status']
        for ignored in [], [signal.SIGCHLD], [signal.SIGPIPE, signal.SIGHUP]:
            told = [subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, restore_signals=not ignored,
                                   preexec_fn=lambda ignored=ignored: [signal.signal(one, signal.SIG_IGN)
                                                                       for one in ignored]).stdout
                    for command in (line, [TRAPLINE, 'race', '-q', '--', *line])]
            self.assertEqual(*told, ignored)

    def test_python_function(self):
        """A program of Debian's without debug information: how often a function of it runs."""
        script = 'import os\nfor i in range(25): os.getppid()'
        result, lines = watch('getppid', '--', PYTHON, '-S', '-c', script)
        self.assertEqual((result.returncode, len(lines)), (0, 25), result.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
