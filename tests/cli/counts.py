#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever is counted has a text, whatever has a text is counted, and the manual has them all.

Usage: counts.py
"""
import glob
import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
# Each with the rooms whose code counts for it.
TOOLS = {room: [room] for room in ('race', 'heap', 'stack', 'uninit', 'traffic')} | {'flow': ['flow', 'traffic']}
# Tables of the library, of the controller and of what reads files, and how code names a count of each.
TABLES = {'src/base/counters.def': 'COUNTER_', 'src/program/counts.def': 'COUNT_',
          'src/session/statistics.def': 'SYMBOL_STATISTIC_'}
ROW = re.compile(r'^[A-Z]+\((\w+), "([^"]+)", "((?:[^"\\]|\\.)*)"\)', re.M)
NAME = re.compile(r'"([a-z]+(?:-[a-z]+)*)"')


def text(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def sources(room):
    return {os.path.basename(path): text(path) for path in glob.glob(os.path.join(ROOT, 'src', room, '*.c'))}


def names_of_table(code):
    return re.findall(r'^\t\{"([^"]+)",', code, re.M)


def names_counted(code):
    """Literals in calls of functions whose name ends in count, and of rules that hide."""
    calls = re.findall(r'count\((?:[^;"]|"[^"]*")*\);', code)
    return {name for call in calls for name in NAME.findall(call)} | set(re.findall(r'"(hidden-[a-z-]+)"', code))


class Counts(unittest.TestCase):
    def test_tools(self):
        for room, rooms in TOOLS.items():
            table = names_of_table(sources(room)['counts.c'])
            code, lent = ('\n'.join(code for other in those for name, code in sources(other).items()
                                    if name != 'counts.c') for those in ([room], rooms))
            with self.subTest(room=room):
                self.assertEqual(len(table), len(set(table)), 'a name stands twice')
                self.assertEqual(names_counted(code) - set(table), set(), 'without a text in counts.c')
                self.assertEqual(set(table) - set(NAME.findall(lent)), set(), 'never counted')

    def test_no_tool_takes_a_name_of_the_controllers(self):
        taken = {name for path in TABLES for _, name, _ in ROW.findall(text(path))}
        for room in TOOLS:
            with self.subTest(room=room):
                self.assertEqual(set(names_of_table(sources(room)['counts.c'])) & taken, set())

    def test_tables(self):
        code = '\n'.join(text(os.path.relpath(path, ROOT)) for pattern in ('*/*.c', '*/*.h', 'arch/*/*/*.c')
                         for path in glob.glob(os.path.join(ROOT, 'src', pattern)))
        used = set(re.findall(r'\b[A-Z][A-Z0-9_]+\b', code))
        for path, prefix in TABLES.items():
            with self.subTest(table=path):
                self.assertTrue(ROW.findall(text(path)))
                self.assertEqual([name for identifier, name, _ in ROW.findall(text(path))
                                  if prefix + identifier not in used], [], 'never counted')

    def test_the_manual_has_the_librarys(self):
        manual = re.findall(r'^\.It Li (\S+)\n(.*)$', text('man/tl_stats.3'), re.M)
        self.assertEqual(manual, [(name, meaning) for _, name, meaning in ROW.findall(text('src/base/counters.def'))])


if __name__ == '__main__':
    unittest.main(verbosity=2)
