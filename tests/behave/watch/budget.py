#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline watch --budget: what is hit too often is sampled, and said to be; nothing else changes.

Usage: budget.py TRAPLINE HOT COUNT PLACES EACH
"""
import re
import subprocess
import sys
import unittest

TRAPLINE, HOT, COUNT, PLACES, EACH = sys.argv[1:6]
ROUNDS, WORK = 3000000, 300


def watch(*arguments):
    result = subprocess.run([TRAPLINE, 'watch', *arguments], capture_output=True, text=True,
                            timeout=120, check=False)
    return result.stderr, result.stdout, result.returncode


class Budget(unittest.TestCase):
    def test_counter(self):
        """Its hits all add the same: the value tells how many there were while nobody looked."""
        text, output, status = watch('hot', 'cold', '--count', '--budget', '5', '--stats=all', '--', HOT,
                                     str(ROUNDS), str(WORK))
        self.assertEqual((status, output.split()[1]), (0, str(ROUNDS)))
        noted = int(re.search(r'hot: (\d+) hits', text)[1])
        self.assertLess(noted, ROUNDS // 2)
        # At most the changes of windows that were too short to show a pattern are missing.
        estimate = int(re.search(r'hot: about (\d+) hits in all, an estimate: watched for', text)[1])
        self.assertTrue(ROUNDS * 0.5 <= estimate <= ROUNDS * 1.01, text)
        self.assertRegex(text, rf'~{estimate}  write  touch hot.c')
        self.assertGreater(int(re.search(r'(\d+)  rests', text)[1]), 1)
        # The kernel's own count goes on after each rest: it has all hits that were noted, told where it has more.
        counted = re.search(r'hot: \d+ hits shown or counted here; the kernel counted (\d+)', text)
        self.assertGreaterEqual(int(counted[1]) if counted else noted, noted, text)
        # The other watch is exact: it costs nothing.
        self.assertRegex(text, r'(?m)^ +3  write  main hot.c')
        self.assertNotRegex(text, r'cold: (about|at least)')

    def test_without_a_pattern(self):
        text, output, status = watch('hot', '--count', '--budget', '5', '--', HOT, str(ROUNDS),
                                     str(WORK), '48271')
        self.assertEqual(status, 0)
        kind, estimate = re.search(r'hot: (about|at least) (\d+) hits in all', text).groups()
        if kind == 'at least':
            self.assertLessEqual(int(estimate), ROUNDS)
            self.assertRegex(text, r'>=\d+  write  touch hot.c')

    def test_a_bound_holds(self):
        """Where hits leave the program no time of its own nothing is added to what was seen."""
        text, _, status = watch('hot', '--count', '--budget', '5', '--', HOT, '300000000', '0', '48271')
        self.assertEqual(status, 0)
        seen = re.search(r'hot: (\d+) hits', text)[1]
        self.assertRegex(text, rf'hot: at least {seen} hits in all: watched for \d')
        self.assertRegex(text, rf'>={seen}  write  touch hot.c')

    def test_many_places(self):
        """So many are listed, and it is said how many hits were elsewhere."""
        text, _, status = watch('counter', '--count', '--', PLACES)
        self.assertEqual(status, 7, text[-1000:])
        self.assertIn('counter: 5000 hits\n', text)
        self.assertEqual(len(re.findall(r'(?m)^ +1  rmw    main', text)), 4096)
        self.assertIn('904 hits at further places: 4096 places are listed at most\n', text)

    def test_what_each_thread_saw_before_a_rest(self):
        """Is not what its write found: a value is told as the old one only where the new one is one more."""
        for rounds in 500000, 1000000, 2000000:  # a busy machine makes the rests longer
            text, _, status = watch('mine', '--if', 'new != old + 1', '--budget', '5', '--stats=all', '--', EACH,
                                    '8', str(rounds), '300')
            self.assertEqual(status, 0)
            rests = int(re.search(r'(\d+)  rests', text)[1])
            if rests > 1:
                break
        self.assertGreater(rests, 1, text)
        known = re.findall(r'write mine  (\d+) → (\d+) ', text)
        self.assertEqual([pair for pair in known if int(pair[1]) != int(pair[0]) + 1], [], text)

    def test_seldom(self):
        """Few hits are exact on any budget."""
        text, _, _ = watch('counter', '--budget', '5', '--', COUNT, '5', '2')
        self.assertIn('counter: 10 hits\n', text)
        self.assertNotIn('estimate', text)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
