#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the C library's functions read of their caller's memory is a race where another thread writes
it, and what their instructions load behind that is none.

Usage: libc.py TRAPLINE STRINGS
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

TRAPLINE, STRINGS = map(os.path.abspath, sys.argv[1:3])
LIMIT = 90  # seconds
# Which variants of its functions glibc is to choose: by default the best that the processor has.
AVX2 = '-AVX512F,-AVX512VL,-AVX512BW'
SSE2 = AVX2 + ',-AVX2,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-SSE4_2,-SSSE3'


class Libc(unittest.TestCase):
    def run_one(self, program, variant, *arguments):
        """The functions `read_NAME` and `write_NAME` that stand in findings shown by default, with
        their class; the counts."""
        environment = dict(os.environ)
        if variant:
            environment['GLIBC_TUNABLES'] = f'glibc.cpu.hwcaps={variant}'
        with tempfile.TemporaryDirectory(prefix='libc-') as folder:
            output = os.path.join(folder, 'races.jsonl')
            result = subprocess.run(
                [TRAPLINE, 'race', '-q', '--aggressive', '--stats', '-o', output, '--', program,
                 *arguments], capture_output=True, text=True, timeout=LIMIT, check=False,
                env=environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn('an error of its own', result.stderr)
            with open(output, encoding='utf-8') as file:
                reports = [json.loads(line) for line in file]
        found = {}
        for report in reports:
            for access in report['accesses']:
                for frame in access['stack']:
                    match = re.fullmatch(r'read_(\w+)', frame.get('function') or '')
                    if match and report['class'] in ('definite', 'likely'):
                        found[match.group(1)] = access['stack'][0].get('function')
        counts = {name: int(value) for value, name in
                  re.findall(r'^ +(\d+) +([a-z-]+) ', result.stderr, re.M)}
        return found, counts

    def test_nobody_reads_what_is_behind(self):
        for variant in (None, AVX2, SSE2):
            with self.subTest(variant=variant):
                found, counts = self.run_one(STRINGS, variant, '3', 'behind')
                self.assertEqual(found, {})
                self.assertGreater(counts.get('hits-behind', 0), 20)

    def test_the_last_byte_is_read(self):
        """Which are met is up to chance; the floor is a third of what six seconds usually meet."""
        for variant in (None, SSE2):
            with self.subTest(variant=variant):
                found, _ = self.run_one(STRINGS, variant, '6', 'last')
                self.assertGreater(len(found), 17, found)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
