#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Race detection without `trapline` in front: bare LD_PRELOAD, and tl_race_start() in the program.

Usage: inside.py TRAPLINE LIBRARY PRELOADED LINKED
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
from reachable import reachable  # pylint: disable=wrong-import-position

TRAPLINE, PRELOADED = reachable(sys.argv[1], sys.argv[3])
LIBRARY = os.path.join(os.path.dirname(TRAPLINE), os.path.relpath(sys.argv[2], os.path.dirname(sys.argv[1])))
LINKED = os.path.abspath(sys.argv[4])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'racer.c')
SELF = 'wait -1 ECHILD, descriptors {}, threads 1, environment clean\n'
LIMIT = 90  # seconds: nothing takes as long, whatever else the machine does


def line_of(comment):
    with open(SOURCE, encoding='utf-8') as file:
        return next(i for i, text in enumerate(file, 1) if comment in text)


RACE = line_of('/* the race */')


def unprivileged(command):
    return ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', *command]


def lines(path):
    """Of both accesses of each finding."""
    with open(path, encoding='utf-8') as file:
        findings = [json.loads(line) for line in file]
    return [[access['stack'][0].get('line') for access in finding['accesses']]
            for finding in findings if finding['class'] != 'possible']


class Inside(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='inside-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o777)
        self.output = os.path.join(self.folder, 'races.jsonl')

    def run_program(self, *command, status=7, **environment):
        result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT,
                                check=False, cwd=self.folder,
                                env={**os.environ, 'RACER_OUTPUT': self.output, **environment},
                                stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def preloaded(self, *arguments, options=None, wrap=lambda command: command, **more):
        options = f'-o {self.output}' if options is None else options
        # The variables are for the program alone, not for what wraps it.
        command = ['env', f'LD_PRELOAD={LIBRARY}', f'TRAPLINE_OPTIONS={options}', *arguments]
        return self.run_program(*wrap(command), **more)

    def expect_race(self, path=None):
        self.assertIn([RACE, RACE], lines(path or self.output))

    def expect_nobody_left(self):
        """No process still has our folder as its working directory."""
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            left = [pid for pid in os.listdir('/proc') if pid.isdigit() and self.works_here(pid)]
            if not left:
                return
            time.sleep(0.05)
        self.fail(f'still there: {left}')

    def works_here(self, pid):
        try:
            return os.readlink(f'/proc/{pid}/cwd') == self.folder
        except OSError:
            return False

    def test_bare_preload(self):
        result = self.preloaded(PRELOADED, 'never', '20')
        self.assertEqual(result.stdout, SELF.format(3))
        self.assertIn('data race, definite', result.stderr)
        self.expect_race()
        self.expect_nobody_left()

    def test_bare_preload_unprivileged(self):
        self.preloaded(PRELOADED, 'never', '20', wrap=unprivileged)
        self.expect_race()

    def test_the_command_unprivileged(self):
        self.run_program(*unprivileged([TRAPLINE, 'race', '-o', self.output, '--', PRELOADED,
                                        'never', '20']))
        self.expect_race()

    def test_quiet_lets_go_of_standard_error(self):
        result = self.preloaded(PRELOADED, 'never', '20', options=f'-q -o {self.output}')
        self.assertEqual(result.stderr, '')
        self.expect_race()

    def test_where_orphans_become_children(self):
        result = self.preloaded(PRELOADED, 'never', '20', 'subreaper')
        self.assertEqual(result.stdout, SELF.format(3))
        self.expect_race()
        self.expect_nobody_left()

    def test_children_and_what_they_execute(self):
        self.preloaded('sh', '-c', f'{PRELOADED} never 20 & wait $!')
        self.expect_race()

    def test_a_forked_child(self):
        self.preloaded(PRELOADED, 'never', '20', 'fork')
        self.expect_race()

    def test_a_report_a_program(self):
        self.preloaded(PRELOADED, 'never', '6', options='-o %p.jsonl', RACER_OUTPUT='')
        name, = [name for name in os.listdir(self.folder) if name.endswith('.jsonl')]
        self.assertTrue(name[:-len('.jsonl')].isdigit(), name)
        self.expect_race(os.path.join(self.folder, name))

    def test_death_by_a_signal(self):
        self.preloaded(PRELOADED, 'never', '20', 'kill', status=-9)
        self.expect_nobody_left()
        self.expect_race()

    def test_wrong_options_change_nothing_else(self):
        result = self.preloaded(PRELOADED, 'never', '0', options='--no-such-option')
        self.assertEqual(result.stdout, SELF.format(3))
        self.assertIn('--no-such-option', result.stderr)
        self.expect_nobody_left()

    def test_without_the_variable_nothing_happens(self):
        environment = {key: value for key, value in os.environ.items() if key != 'TRAPLINE_OPTIONS'}
        result = subprocess.run([PRELOADED, 'never', '0'], capture_output=True, text=True,
                                check=False, timeout=LIMIT, stdin=subprocess.DEVNULL,
                                env={**environment, 'LD_PRELOAD': LIBRARY})
        self.assertEqual(result.stdout, SELF.replace('clean', 'marked').format(3))

    def test_linked(self):
        result = self.run_program(LINKED, 'early', '20', 'stop', RACER_OPTIONS=f'-o {self.output}')
        self.assertEqual(result.stdout, SELF.format(3) + 'stop 0, again -3\n')
        self.assertIn('data race, definite', result.stderr)
        self.expect_race()
        self.expect_nobody_left()

    def test_linked_and_begun_while_threads_run(self):
        self.run_program(LINKED, 'late', '20', RACER_OPTIONS=f'-o {self.output}')
        self.expect_race()

    def test_linked_and_watched_from_outside(self):
        result = self.run_program(TRAPLINE, 'race', '-o', self.output, '--', LINKED, 'never', '20')
        self.assertEqual(result.stdout, SELF.format(3))
        self.expect_race()

    def test_options_of_who_runs_it_come_last(self):
        other = os.path.join(self.folder, 'other.jsonl')
        self.run_program(LINKED, 'early', '20', RACER_OPTIONS=f'-o {self.output}',
                         TRAPLINE_OPTIONS=f'-o {other}', RACER_OUTPUT=other)
        self.expect_race(other)


if __name__ == '__main__':
    if subprocess.run([TRAPLINE, 'doctor'], capture_output=True, check=False).returncode:
        print('skipped: `trapline doctor` says that it cannot work here')
        sys.exit(1 if os.environ.get('TRAPLINE_REQUIRE_HARDWARE') == '1' else 77)
    unittest.main(argv=sys.argv[:1])
