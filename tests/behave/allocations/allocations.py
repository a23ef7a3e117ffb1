#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Findings say where a racing heap block came from, and never where another one did.

Usage: allocations.py TRAPLINE BLOCKS
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

TRAPLINE, BLOCKS = map(os.path.abspath, sys.argv[1:3])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'blocks.c')
LIMIT = 90  # seconds
SECONDS = 8  # in which the race is met: that is up to chance
SIZE = 200


def line_of(comment):
    with open(SOURCE, encoding='utf-8') as file:
        return next(i for i, text in enumerate(file, 1) if f'/* {comment} */' in text)


class Allocations(unittest.TestCase):
    def run_until(self, output, is_met, case, *options):
        """The program runs until the race is met: of one met as it ends nobody can say any more where the
        block came from, since that stands in the program's memory. What trapline has to say."""
        with subprocess.Popen([TRAPLINE, 'race', '-q', '-o', output, *options, '--', BLOCKS, case, str(SECONDS)],
                              stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            while program.poll() is None and not is_met():
                time.sleep(0.02)
            text = program.communicate(timeout=LIMIT)[1]  # closes its standard input
        self.assertEqual(program.returncode, 0, text)
        self.assertTrue(is_met(), 'the race was not met')
        return text

    def race(self, case, *options):
        with tempfile.TemporaryDirectory(prefix='allocations-') as folder:
            output = os.path.join(folder, 'races.jsonl')

            def met():
                found = []
                if os.path.exists(output):
                    with open(output, encoding='utf-8') as file:
                        found = [json.loads(line) for line in file if line.endswith('\n')]
                return [one for one in found if one['accesses'][0]['stack'][0].get('line') == line_of('the race')]

            text = self.run_until(output, met, case, *options)
            return met()[0], text

    def expect_frames(self, stack, function, comment):
        self.assertIn((function, line_of(comment)),
                      [(frame.get('function'), frame.get('line')) for frame in stack], stack)
        self.assertIn('main', [frame.get('function') for frame in stack])

    def expect_block(self, finding, size=SIZE, thread='blocks'):
        block = finding['object']
        self.assertEqual((block['kind'], block['size'], block['thread']), ('heap', size, thread))
        self.assertEqual(int(finding['accesses'][0]['address'], 16) - int(block['address'], 16),
                         block['offset'])
        self.assertLess(block['time'], finding['time'])
        return block

    def test_the_only_block(self):
        finding, text = self.race('one')
        block = self.expect_block(finding)
        self.expect_frames(block['stack'], 'make', 'made')
        self.assertEqual(block['offset'], 64)
        self.assertNotIn('freed', block)
        self.assertRegex(text, r'object: heap block \+ 64, 200 bytes at 0x[0-9a-f]+, allocated by thread '
                               r'blocks \(\d+\), [0-9.]+ m?s before\n +#0 +make ')

    def test_one_of_many(self):
        finding, _ = self.race('many', '--allocations', 'all')
        block = self.expect_block(finding, thread='maker')
        functions = [frame.get('function') for frame in block['stack']]
        self.assertEqual(functions[:2], ['make', 'make_many'])
        self.assertNotEqual(block['tid'], finding['pid'])

    def test_a_block_that_was_freed(self):
        finding, text = self.race('freed')
        block = self.expect_block(finding)
        self.expect_frames(block['stack'], 'make', 'made')
        self.expect_frames(block['freed']['stack'], 'drop', 'dropped')
        self.assertEqual(block['freed']['tid'], finding['pid'])
        self.assertLess(block['time'], block['freed']['time'])
        self.assertRegex(text, r'freed by thread blocks \(\d+\), [0-9.]+ m?s before, and perhaps')

    def test_a_block_that_was_moved(self):
        finding, _ = self.race('resized')
        block = self.expect_block(finding, size=50 * SIZE)
        self.expect_frames(block['stack'], 'enlarge', 'resized')

    def test_a_child_has_its_parents_blocks(self):
        finding, _ = self.race('forked')
        block = self.expect_block(finding)
        self.expect_frames(block['stack'], 'make', 'made')
        self.assertNotEqual(block['tid'], finding['pid'])

    def test_another_block_is_not_taken_for_it(self):
        finding, _ = self.race('behind', '--allocations', 'all')
        self.assertEqual(finding['object']['kind'], 'heap')
        self.assertNotIn('stack', finding['object'])

    def test_none(self):
        finding, _ = self.race('one', '--allocations', 'none')
        self.assertNotIn('stack', finding['object'])

    def test_names_may_come_later(self):
        with tempfile.TemporaryDirectory(prefix='allocations-') as folder:
            output = os.path.join(folder, 'raw.jsonl')
            self.run_until(output, lambda: os.path.exists(output) and os.path.getsize(output), 'freed', '--raw')
            text = subprocess.run([TRAPLINE, 'report', output], text=True, capture_output=True,
                                  timeout=LIMIT, check=True).stdout
        self.assertRegex(text, rf'#0 +make .*blocks\.c:{line_of("made")}')
        self.assertRegex(text, rf'#0 +drop .*blocks\.c:{line_of("dropped")}')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
