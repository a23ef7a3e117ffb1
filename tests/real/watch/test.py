#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A question about a real program, and the same answer from trapline watch, gdb and perf.

Usage: test.py QUESTION TRAPLINE CACHE
CACHE keeps what must be built. Exit status 77: it cannot be asked here.
"""
import os
import sys
import tempfile
import unittest

import questions

AMOUNT = 40


def line_of(source, comment):
    with open(os.path.join(questions.HERE, source), encoding='utf-8') as file:
        return next(i for i, text in enumerate(file, 1) if comment in text)


class Case(unittest.TestCase):
    question = None     # set by main()
    maxDiff = None

    def same(self, answer, other, but=()):
        self.assertEqual(+answer.functions, +other.functions, answer.text + other.text)

    def optional(self, ask):
        try:
            return ask()
        except questions.Unavailable as reason:
            self.skipTest(str(reason))


class RedisCase(Case):
    expected = {'clientAcceptHandler': AMOUNT + 1, 'resetServerStats': 1}

    def test_trapline(self):
        answer = self.question.ask_trapline()
        self.assertEqual(answer.functions, self.expected, answer.text)
        self.assertRegex(answer.text, rf'{AMOUNT} → {AMOUNT + 1}  clientAcceptHandler networking.c:')

    def test_gdb(self):
        """It does not stop for the write of resetServerStats(), which changes nothing."""
        answer = self.optional(self.question.ask_gdb)
        self.assertEqual(answer.functions, {'clientAcceptHandler': AMOUNT + 1}, answer.text)

    def test_perf(self):
        answer = self.optional(self.question.ask_perf)
        self.assertEqual(answer.functions, self.expected, answer.text)


class ReferenceCase(Case):
    def test_all(self):
        answer = self.question.ask_trapline()
        self.assertGreater(sum(answer.functions.values()), 3 * AMOUNT)
        for function in ('_PyTuple_FromArray', '_list_clear'):
            self.assertGreaterEqual(answer.functions[function], AMOUNT, answer.text)
        self.assertRegex(answer.text, r'Py_INCREF object\.h:\d+ \(in _PyTuple_FromArray ')
        # Nothing may be missing: what the kernel counted is what was told.
        self.assertNotIn('the kernel counted', answer.text)
        self.same(answer, self.optional(self.question.ask_gdb))

    def test_perf(self):
        answer = self.question.ask_trapline()
        self.same(answer, self.optional(self.question.ask_perf))


class NeighbourCase(Case):
    def test_trapline(self):
        answer = self.question.ask_trapline()
        self.assertEqual(answer.functions, {'rename_account': 1}, answer.text)
        line = line_of('neighbour.c', '/* the wild write */')
        before = AMOUNT // 2 * 100
        self.assertIn(f'{before} → {before & ~0xff}  rename_account neighbour.c:{line}', answer.text)

    def test_others(self):
        """They cannot leave deposit() out."""
        expected = {'rename_account': 1, 'deposit': AMOUNT}
        self.assertEqual(self.optional(self.question.ask_gdb).functions, expected)
        self.assertEqual(self.optional(self.question.ask_perf).functions, expected)


def main():
    name, trapline, cache = sys.argv[1:4]
    case = {'redis': RedisCase, 'python': ReferenceCase, 'neighbour': NeighbourCase}[name]
    kind = next(question for question in questions.ALL if question.name == name)
    os.environ['TRAPLINE_REAL_CACHE'] = cache
    with tempfile.TemporaryDirectory(prefix='watch-') as folder:
        try:
            case.question = kind(os.path.abspath(trapline), folder, AMOUNT)
        except questions.Unavailable as reason:
            print(reason)
            return 77
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
        return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == '__main__':
    sys.exit(main())
