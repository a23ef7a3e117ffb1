#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline watch on blocks of the heap and on each thread's own variables.

Usage: heap_threads.py TRAPLINE HEAP LOCAL MODULE
"""
import collections
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from keys import has_keys  # noqa: E402

TRAPLINE, HEAP, LOCAL, MODULE = sys.argv[1:5]
HERE = os.path.dirname(os.path.abspath(__file__))


def line_of(source, comment):
    with open(os.path.join(HERE, source), encoding='utf-8') as file:
        return next(i for i, text in enumerate(file, 1) if comment in text)


def watch(*arguments):
    result = subprocess.run([TRAPLINE, 'watch', *arguments], capture_output=True, text=True,
                            timeout=60, check=False)
    lines = [line for line in result.stderr.splitlines() if re.match(r' *\d+\.\d{6}  ', line)]
    return result, lines


def table(result):
    """{place: count}"""
    rows = re.findall(r'^ +(\d+)  (\S+) +(.*)$', result.stderr, re.M)
    return {place: int(count) for count, _, place in rows}


class Heap(unittest.TestCase):
    def test_blocks_of_a_function_until_they_are_freed(self):
        """Also through the wrapper that make() calls; neither other()'s blocks, nor the same memory
        after free(), nor what realloc() made of a block."""
        result, lines = watch('heap:48@make:16', '--', HEAP, '5')
        self.assertEqual((result.returncode, result.stdout), (0, 'done\n'), result.stderr)
        state = line_of('heap.c', '/* the state */')
        identity = line_of('heap.c', '/* the id */')
        self.assertEqual(table(result), {f'make heap.c:{identity}': 10,
                                         f'make heap.c:{identity + 1}': 10,
                                         f'finish heap.c:{state}': 10})
        self.assertIn('10 blocks were watched\n', result.stderr)
        self.assertRegex(lines[1], r'heap:48@make:16 \[0x[0-9a-f]+\+8\]  \d+ → \d+  make')

    def test_part_of_a_block(self):
        result, lines = watch('heap:48@make+8:4', '--', HEAP, '3')
        self.assertEqual(len(lines), 12, result.stderr)
        self.assertTrue(all('1 → 2' in line for line in lines if 'finish' in line))

    def test_values_of_a_child_function_and_of_nobody(self):
        result, _ = watch('heap:96@work:8', '--', HEAP, '2')
        self.assertIn('4 blocks were watched', result.stderr)
        result, _ = watch('heap:47@make:8', '--', HEAP, '2')
        self.assertIn('no such block was allocated', result.stderr)

    @unittest.skipIf(has_keys(), 'with protection keys there is hardware for more')
    def test_more_blocks_than_hardware(self):
        """From main() on every 48 bytes are asked for: two blocks live at a time, one fits."""
        result, _ = watch('heap:48@work:32', '--', HEAP, '2')
        self.assertIn('others were not: all hardware watchpoints were in use', result.stderr)
        result, _ = watch('heap:48@make', '--', HEAP, '2')
        self.assertEqual((result.returncode, result.stdout), (2, ''))
        self.assertIn('48 bytes, for which hardware is missing: of the 4 watchpoints', result.stderr)

    def test_wrong_expressions(self):
        for wrong in ('heap:48', 'heap:0@make', 'heap:48@', 'heap:48@make+48', 'heap:48@mak'):
            self.assertEqual(watch(wrong, '--', HEAP)[0].returncode, 2, wrong)

    @unittest.skipIf(has_keys(), 'where regions can be watched one library has all')
    def test_other_watches_do_not_see_the_allocator(self):
        """The library that interposes malloc() is there only when blocks are asked for."""
        script = 'grep -o "libtrapline-agent[^/]*so$" /proc/self/maps | sort -u'
        result, _ = watch('getppid', '--later', '--', 'sh', '-c', script)
        self.assertEqual(result.stdout, 'libtrapline-agent.so\n')
        result, _ = watch('heap:48@make:8', '--later', '--', 'sh', '-c', script)
        self.assertEqual(result.stdout, 'libtrapline-agent-heap.so\n')


class OwnOfEachThread(unittest.TestCase):
    def test_every_thread_and_the_child(self):
        result, lines = watch('mine', '--', LOCAL, '4', '3')
        self.assertEqual(result.returncode, 0, result.stderr)
        threads = collections.Counter(re.search(r'  (\S+)/(\d+) ', line).groups() for line in lines)
        self.assertEqual(sorted(threads.values()), [1, 3, 3, 3, 3, 3, 3])
        names = collections.Counter(name for name, _ in threads)
        self.assertEqual((names['even'], names['odd'], names['last']), (2, 2, 1))
        for thread, count in threads.items():
            values = [re.search(r'(\d+) → (\d+)', line).groups() for line in lines
                      if f'  {thread[0]}/{thread[1]} ' in line]
            first = 0 if count > 1 else 3
            self.assertEqual(values, [(str(first + i), str(first + i + 1)) for i in range(count)])
        self.assertIn('mine: 19 hits\n', result.stderr)

    def test_threads_of_a_name(self):
        _, lines = watch('mine', '--thread', 'od*', '--no-follow', '--', LOCAL, '4', '2')
        self.assertEqual(len(lines), 4)
        self.assertTrue(all('  odd/' in line for line in lines))

    def test_many_threads_and_two_slots(self):
        result, lines = watch('mine', 'pair', '--no-follow', '--', LOCAL, '60', '1')
        self.assertEqual(len([line for line in lines if 'write mine' in line]), 62, result.stderr)
        self.assertEqual(len([line for line in lines if 'write pair [+8]  0 → 5' in line]), 1)
        self.assertIn('its 16 bytes take 2 of the 4 hardware watchpoints', result.stderr)

    def test_a_library_loaded_later(self):
        """Its block is made at the first use by each thread, and looked for now and then: later writes are seen."""
        result, lines = watch('late_local', '--later', '--no-follow', '--', LOCAL, '2', '6', MODULE)
        threads = collections.Counter(re.search(r'/(\d+) ', line)[1] for line in lines)
        self.assertEqual(len(threads), 3, result.stderr)
        self.assertTrue(all(count >= 2 for count in threads.values()), threads)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
