#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline watch takes a value for signed or a pointer by what its type is, not by how that is spelled.

Usage: signs.py TRAPLINE SIGNS
"""
import re
import subprocess
import sys
import unittest

TRAPLINE, SIGNS = sys.argv[1:3]


def watch(*arguments):
    result = subprocess.run([TRAPLINE, 'watch', *arguments, '--', SIGNS], capture_output=True, text=True,
                            timeout=120, check=False)
    return result.stderr


class Signs(unittest.TestCase):
    def test_negative(self):
        for name in ('volatile_int', 'atomic_int_', 'process', 'interval', 'side', 'wrapped', 'array[0]'):
            text = watch(name, '--if', 'new < 0', '--count')
            self.assertIn(f'{name}: 1 hit', text, text)
            self.assertIn('1 hits left out by --if', text, text)

    def test_shown(self):
        text = watch('volatile_int', 'side', 'process')
        self.assertEqual(re.findall(r'write (?:volatile_int|side|process)  (\S+) → (\S+) ', text),
                         [('0', '1'), ('1', '-1')] * 3, text)

    def test_unsigned(self):
        text = watch('interval_unsigned', 'character', 'shade', 'pointer')
        self.assertEqual(dict(re.findall(r'write (\S+)  \S+ → (\S+) ', text)),
                         {'interval_unsigned': '4294967295', 'character': '65535', 'shade': '4294967295',
                          'pointer': '0xffffffffffffffff'}, text)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
