#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `--stats` says that a program was made to pay is what it pays.

Each kind of program does the same work bare and watched, in turns; what the watched run takes more, the controller's
time included, is compared with the sum of its account. Both are CPU time, which other work on the machine changes by
caches alone; how far that goes the runs themselves show.

Usage: account.py TRAPLINE SUBJECT
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import unittest

TRAPLINE, SUBJECT = map(os.path.abspath, sys.argv[1:3])
PARTS = ('controller', 'symbols', 'hits', 'samples', 'switching', 'idle', 'interrupts', 'births')
ROUNDS = 5
TRIES = 3  # of so many rounds each, judged together
SHARE, LEAST = 0.15, 20  # of what it took more; ms


def run(line):
    """(CPU time in ms, what it wrote to standard error)"""
    with tempfile.TemporaryFile() as errors:
        pid = os.posix_spawnp(line[0], line, os.environ,
                              file_actions=[(os.POSIX_SPAWN_DUP2, errors.fileno(), 2)])
        _, status, usage = os.wait4(pid, 0)
        errors.seek(0)
        text = errors.read().decode(errors='replace')
    if status:
        raise AssertionError(f'{line}: {status}: {text}')
    return 1000 * (usage.ru_utime + usage.ru_stime), text


def account_of(text):
    count = {name: int(value) for value, name in re.findall(r'^ *(\d+)  ms-(\S+)', text, re.M)}
    return {part: count.get(part, 0) for part in PARTS}


class Account(unittest.TestCase):
    def expect_true(self, kind, amount, *options):
        """What is missing from the account, in ms, negative: what it says too much."""
        work = [SUBJECT, kind, str(amount)]
        missing, real, accounts = [], [], []
        for _ in range(TRIES):
            for _ in range(ROUNDS):
                bare = run(work)[0]
                ours, text = run([TRAPLINE, 'race', '-q', '--stats=all', '-o', os.devnull, *options, '--', *work])
                accounts.append(account_of(text))
                real.append(ours - bare)
                missing.append(real[-1] - sum(accounts[-1].values()))
            middle = statistics.median(missing)
            spread = statistics.median(abs(value - middle) for value in missing)
            allowed = SHARE * abs(statistics.median(real)) + LEAST + 2 * spread
            if abs(middle) <= allowed:
                return
        self.fail(f'{kind} {options}: took {[round(value) for value in real]} ms more, missing from the account '
                  f'{[round(value) for value in missing]}, {allowed:.0f} allowed: {accounts}')

    def test_threads_that_compute(self):
        self.expect_true('busy', 1000000)

    def test_threads_that_take_a_lock(self):
        self.expect_true('locks', 300000)

    def test_threads_that_wake_each_other(self):
        self.expect_true('switching', 300000)

    def test_threads_that_wake_each_other_while_nothing_is_watched(self):
        self.expect_true('switching', 300000, '--loan', '0')

    def test_a_thousand_threads(self):
        self.expect_true('threads', 2000)

    def test_processes_that_are_forked(self):
        self.expect_true('forking', 700)


if __name__ == '__main__':
    if subprocess.run([TRAPLINE, 'doctor'], capture_output=True, check=False).returncode:
        print('skipped: `trapline doctor` says that it cannot work here')
        sys.exit(1 if os.environ.get('TRAPLINE_REQUIRE_HARDWARE') == '1' else 77)
    unittest.main(argv=sys.argv[:1])
