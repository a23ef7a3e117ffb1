#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `trapline race` says it cost stays within what --budget allows; the progress line is on
terminals alone.

Usage: cost.py TRAPLINE RACER WORKERS CHURN WAKERS
"""
import functools
import os
import pty
import re
import subprocess
import sys
import tempfile
import time
import unittest

TRAPLINE, RACER, WORKERS, CHURN, WAKERS = map(os.path.abspath, sys.argv[1:6])
THREADS = 2
SECONDS = 4
LIMIT = 90  # seconds


def counts_in(text):
    return {name: int(value) for value, name in re.findall(r'^ *(\d+)  (\S+)', text, re.M)}


@functools.lru_cache
def counts(*options):
    result = subprocess.run([TRAPLINE, 'race', '--stats=all', *options, '--', RACER, 'never',
                             str(SECONDS)], capture_output=True, text=True, timeout=LIMIT,
                            check=False)
    return counts_in(result.stderr)


def on_terminal(*options, **environment):
    """What it writes to standard error when that is a terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen([TRAPLINE, 'race', *options, '--', RACER, 'never', '2'], stderr=slave,
                          stdout=subprocess.DEVNULL,
                          env={**os.environ, 'TERM': 'xterm', **environment}) as process:
        os.close(slave)
        text = b''
        while True:
            try:
                text += os.read(master, 65536)
            except OSError:
                break
        process.wait(LIMIT)
    os.close(master)
    return text.decode(errors='replace')


class Cost(unittest.TestCase):
    def expect_within(self, percent, count):
        """50 s worth of the budget are lent at the start; a check comes every 100 ms, so that what
        was spent meanwhile comes on top: half as much again is allowed for."""
        spent = count['ms-controller'] + count['ms-hits'] + count['ms-samples']
        allowed = percent / 100 * (50000 + count['ms-program'] + 250 * SECONDS)
        self.assertLessEqual(spent, 1.5 * allowed + 20, count)

    def test_budgets_of_cpu_time(self):
        for percent in (0.2, 1):
            self.expect_within(percent, counts('--budget', str(percent)))

    def test_without_a_loan(self):
        """The start itself, with its measurements, is what is spent before anything was earned."""
        count = counts('--loan', '0')
        spent = count['ms-controller'] + count['ms-hits'] + count['ms-samples']
        self.assertLess(spent, 0.5 * (counts()['ms-controller'] + counts()['ms-hits'] + counts()['ms-samples']), count)

    def test_holds_are_as_long_as_they_may_be(self):
        def mean(*options):
            count = counts('--budget', '20', *options)
            return count['ms-held'] / (count['hits'] + count['hits-over'] + 1)

        self.assertLess(mean('--max-hold', '50us'), 0.4 * mean())

    def test_budgets_of_latency(self):
        """Of each thread's time, and of one second that it may save up."""
        for percent in (0.2, 1):
            held = counts('--budget', str(percent))['ms-held']
            allowed = percent / 100 * THREADS * (SECONDS + 1) * 1000
            # Holds end late on a busy machine; that is paid for by those not made later.
            self.assertLessEqual(held, 2 * allowed + THREADS * 50)

    def test_aggressive_holds_longer_within_bounds(self):
        modest, aggressive = counts('--budget', '1'), counts('--aggressive')
        self.assertGreater(aggressive['ms-held'], 2 * modest['ms-held'])
        self.assertLessEqual(aggressive['ms-held'], 0.4 * THREADS * SECONDS * 1000)

    def test_brief_threads_are_held_no_longer(self):
        """Two live at a time, so that one lane's holds may count twice."""
        for options, share in (('--aggressive', 0.3), ('--budget=1', 0.01)):
            begun = time.monotonic()
            result = subprocess.run([TRAPLINE, 'race', '--stats=all', options, '--', CHURN, '3'],
                                    capture_output=True, text=True, timeout=LIMIT, check=False)
            took = time.monotonic() - begun
            self.assertEqual(result.returncode, 0, result.stderr)
            held = counts_in(result.stderr)['ms-held']
            self.assertLessEqual(held, 2 * share * took * 1000 + 40, (options, took))

    def test_slots_are_brief_where_threads_come_and_go(self):
        """The race begins when what was lent is spent; on a busy machine that takes longer."""
        for seconds in (18, 50):
            result = subprocess.run([TRAPLINE, 'race', '--stats=all', '--error-exitcode', '9', '--',
                                     WORKERS, str(seconds)], capture_output=True, text=True,
                                    timeout=LIMIT, check=False)
            count = counts_in(result.stderr)
            if count['single-watches'] and result.returncode == 9:
                return
        self.fail(result.stderr)

    def test_a_watch_that_nobody_comes_by_costs_threads_that_wake(self):
        """What a tool has placed stays while the budget is spent only where that costs nothing. 0.2 s are
        lent for it, for the default's 0.5 would be a quarter of what this program uses."""
        result = subprocess.run([TRAPLINE, 'heap', '--stats=all', '--loan', '0.2', '--', WAKERS, '12'],
                                capture_output=True, text=True, timeout=LIMIT, check=False)
        count = counts_in(result.stderr)
        self.assertGreater(count['heap-watches'], 0)
        self.assertLess(count['ms-switching'], count['ms-program'] / 8, count)

    def test_many_symbols_do_not_keep_a_program_waiting(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, 'many.s'), os.path.join(folder, 'many')
            with open(source, 'w', encoding='ascii') as file:
                file.write('.globl main\nmain: push %rbp\nmov $1, %edi\ncall sleep@PLT\nxor %eax, %eax\npop %rbp\nret\n')
                file.writelines(f'.globl one_of_many_functions_{i}\none_of_many_functions_{i}: ret\n'
                                for i in range(300000))
                file.write('.section .note.GNU-stack,"",@progbits\n')
            subprocess.run(['gcc', '-o', program, source], check=True)
            result = subprocess.run([TRAPLINE, 'race', '--stats=all', '--', program], capture_output=True,
                                    text=True, timeout=LIMIT, check=False)
        self.assertEqual(counts_in(result.stderr)['unanswered'], 0, result.stderr)

    def test_progress_is_for_terminals(self):
        text = on_terminal()
        self.assertRegex(text, r'\r\x1b\[K\x1b\[2mtrapline: 1 s, \d+ found')
        self.assertNotIn('\x1b[2mtrapline', on_terminal(NO_COLOR='1'))
        self.assertNotIn('trapline: 1 s', on_terminal('-q'))
        self.assertNotIn('trapline: 1 s', on_terminal(TERM='dumb'))
        result = subprocess.run([TRAPLINE, 'race', '--', RACER, 'never', '2'], check=False,
                                capture_output=True, text=True, timeout=LIMIT)
        self.assertNotIn('\r', result.stderr)


if __name__ == '__main__':
    if subprocess.run([TRAPLINE, 'doctor'], capture_output=True, check=False).returncode:
        print('skipped: `trapline doctor` says that it cannot work here')
        sys.exit(1 if os.environ.get('TRAPLINE_REQUIRE_HARDWARE') == '1' else 77)
    unittest.main(argv=sys.argv[:1])
