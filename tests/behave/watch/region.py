#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline watch on more bytes than the hardware covers: a region, by a protection key. Where the
processor has none, in the emulated machine of scripts/vm-run; without that, the refusal alone.

Usage: region.py TRAPLINE TABLE LIBRARY VM-RUN STATIC
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from keys import has_keys  # noqa: E402

TRAPLINE, TABLE, LIBRARY, VM_RUN, STATIC = (os.path.abspath(path) for path in sys.argv[1:6])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'table.c')
COMMANDS = {
    'writes': 'all.table',
    'chosen': "all.table --thread 'writ*' --if 'new > 110'",
    'reads': 'all.table:r --stack',
    'block': 'heap:100@main',
    'followed': "'*way' --follow",
    'beside': 'all.before all.table apart',
    'ended': 'all.table',
    'frozen': 'all.table',
}
RESTRICTIONS = {'ended': 'end', 'frozen': 'freeze'}  # what the program is told to do to itself


def line_of(comment):
    with open(SOURCE, encoding='utf-8') as file:
        return next(i for i, text in enumerate(file, 1) if comment in text)


def run_all():
    """{name: what the command printed}: all in one machine, which takes seconds to start."""
    with tempfile.NamedTemporaryFile('w', suffix='.sh') as script:
        for name, arguments in COMMANDS.items():
            script.write(f'echo "== {name}" >&2\n"{TRAPLINE}" watch {arguments} -- "{TABLE}" {RESTRICTIONS.get(name, "")} >/dev/null\n'
                         'echo "status $?" >&2\n')
        script.flush()
        command = ['sh', script.name]
        if not has_keys():
            files = [word for path in (TRAPLINE, TABLE, LIBRARY, script.name)
                     for word in ('--with', path)]
            command = [VM_RUN, '--timeout', '250', *files, *command]
        text = subprocess.run(command, capture_output=True, text=True, timeout=300,
                              check=False).stderr
    pieces = re.split(r'^== (\w+)\n', text, flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2])), text


class Refusal(unittest.TestCase):
    @unittest.skipIf(has_keys(), 'this processor has protection keys')
    def test_says_what_is_missing(self):
        result = subprocess.run([TRAPLINE, 'watch', 'all.table', '--', TABLE], capture_output=True,
                                text=True, check=False)
        self.assertEqual((result.returncode, result.stdout), (2, ''))
        self.assertIn('256 bytes, for which hardware is missing', result.stderr)
        self.assertIn('a region needs a processor with protection keys', result.stderr)

    @unittest.skipUnless(has_keys(), 'this processor has no protection keys')
    def test_says_which_programs_open_none(self):
        """No library can be loaded into it: not a watch that sees nothing."""
        result = subprocess.run([TRAPLINE, 'watch', 'all.table', '--', STATIC], capture_output=True,
                                text=True, check=False)
        self.assertEqual((result.returncode, result.stdout), (2, ''))
        self.assertIn('256 bytes, for which hardware is missing', result.stderr)
        self.assertIn('a region needs a program that a library can be loaded into', result.stderr)

    def test_hardware_suffices(self):
        result = subprocess.run([TRAPLINE, 'watch', 'all.table:16:w', '--', STATIC], capture_output=True,
                                text=True, check=False)
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertIn('its 16 bytes take 2 of the 4 hardware watchpoints', result.stderr)
        self.assertIn('→ 100', result.stderr)


@unittest.skipUnless(has_keys() or shutil.which('qemu-system-x86_64'),
                     'neither protection keys nor qemu')
class Region(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.printed, cls.whole = run_all()

    def lines(self, name):
        text = self.printed.get(name, '')
        self.assertIn('status 7\n', text, self.whole)
        return [line for line in text.splitlines() if re.match(r' *\d+\.\d{6}  ', line)], text

    def test_writes(self):
        """Of both threads and of the kernel; nothing of what lies beside."""
        lines, text = self.lines('writes')
        self.assertIn('its 256 bytes are watched as a region, by a protection key', text)
        found = [(int(re.search(r'\[\+(\d+)\]|all\.table  ', line)[1] or 0),
                  re.search(r'(\d+) → (\d+)', line).groups()) for line in lines]
        self.assertEqual(found[:6], [(0, ('0', '100')), (64, ('0', '116')), (128, ('0', '132')),
                                     (192, ('0', '148')), (252, ('0', '7')), (252, ('7', '8'))])
        self.assertEqual([place for place, _ in found[6:]], [16], text)
        self.assertIn('(by a system call)', lines[6])
        place = f'set table.c:{line_of("/* the write */")}'
        self.assertTrue(all(place in line for line in lines[:6]), text)
        self.assertIn('all.table: 7 hits\n', text)

    def test_followed(self):
        """What a pointer points to that has not moved stays watched."""
        lines, text = self.lines('followed')
        self.assertEqual(len(lines), 7, text)
        self.assertIn('*way: 7 hits\n', text)

    def test_conditions(self):
        lines, text = self.lines('chosen')
        self.assertEqual([re.search(r'→ (\d+)', line)[1] for line in lines], ['116', '132', '148'])
        self.assertIn('hits left out by --thread', text)

    def test_reads(self):
        lines, text = self.lines('reads')
        self.assertEqual(len(lines), 2, text)
        self.assertRegex(text, rf'#0 get .*table\.c:{line_of("/* the read */")}\n +#1 main ')

    def test_block_of_the_heap(self):
        lines, text = self.lines('block')
        self.assertEqual(len(lines), 2, text)
        self.assertRegex(lines[1], r'\[0x[0-9a-f]+\+99\]  0 → 2  main table\.c:'
                         + str(line_of("/* the block's end */")))

    def test_regions_that_the_program_takes_are_told(self):
        """It restricts its own calls: what is not watched from then on is no silence."""
        lines, text = self.lines('ended')
        self.assertEqual(len(lines), 1, text)
        self.assertRegex(text, r'process \d+ has restricted its own system calls: its regions \(1\) are watched no longer')
        lines, text = self.lines('frozen')
        self.assertEqual(len(lines), 2, text)
        self.assertRegex(text, r'process \d+ has restricted its own system calls: its regions \(1\) stay watched')

    def test_hardware_beside_a_region(self):
        lines, text = self.lines('beside')
        # qemu leaves a watchpoint's mark and tells of it again at the next single step.
        lines = [line for line in lines if 'apart  3 → 3' not in line]
        self.assertEqual(len([line for line in lines if 'all.before  0 → 1' in line]), 1, text)
        self.assertEqual(len([line for line in lines if 'apart  0 → 3' in line]), 1, text)
        self.assertEqual(len(lines), 9, text)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
