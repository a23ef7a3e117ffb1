#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the C library's functions read of their caller's memory is a race where another thread writes
it, and what their instructions load behind that is none.

Usage: libc.py TRAPLINE STRINGS CALLS STATIC STRIPPED
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

TRAPLINE, STRINGS, CALLS, STATIC, NAMELESS = map(os.path.abspath, sys.argv[1:6])
LIMIT = 90  # seconds
TRIES = 5  # whether a race is met is up to chance
FLOOR = 4  # functions
# Which variants of its functions glibc is to choose: by default the best that the processor has.
AVX2 = '-AVX512F,-AVX512VL,-AVX512BW'
SSE2 = AVX2 + ',-AVX2,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-SSE4_2,-SSSE3'


# The C library without its separate symbols, which tell the variants apart.
STRIPPED = ['unshare', '--mount', 'sh', '-c',
            'if [ -d /usr/lib/debug ]; then mount -t tmpfs none /usr/lib/debug; fi; exec "$@"', 'sh']


class Libc(unittest.TestCase):
    def run_one(self, program, variant, *arguments, prefix=()):
        """Findings shown by default, by the NAME of `read_NAME` or `call_NAME` that stands in them,
        if any does; the counts."""
        environment = dict(os.environ)
        if variant:
            environment['GLIBC_TUNABLES'] = f'glibc.cpu.hwcaps={variant}'
        with tempfile.TemporaryDirectory(prefix='libc-') as folder:
            output = os.path.join(folder, 'races.jsonl')
            result = subprocess.run(
                [*prefix, TRAPLINE, 'race', '-q', '--aggressive', '--stats', '-o', output, '--', program,
                 *arguments], capture_output=True, text=True, timeout=LIMIT, check=False,
                env=environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn('an error of its own', result.stderr)
            with open(output, encoding='utf-8') as file:
                reports = [json.loads(line) for line in file]
        found = {}
        for report in reports:
            if report['class'] == 'possible':
                continue
            names = [match.group(1) for access in report['accesses'] for frame in access['stack']
                     if (match := re.fullmatch(r'(?:read|call)_(\w+)',
                                               frame.get('function') or ''))]
            found[names[0] if names else report['id']] = [
                access['stack'][0].get('function') for access in report['accesses']]
        counts = {name: int(value) for value, name in
                  re.findall(r'^ +(\d+) +([a-z-]+) ', result.stderr, re.M)}
        return found, counts

    def expect_silence_behind(self, variant, prefix=(), program=STRINGS, seen='hits-behind'):
        """However often it is tried, until some load behind the end was seen at all."""
        for _ in range(TRIES):
            found, counts = self.run_one(program, variant, '3', 'behind', prefix=prefix)
            self.assertEqual(found, {})
            if counts.get(seen, 0):
                return
        self.fail('no load behind the end was met')

    def expect_races(self, program, variant, mode):
        """Which are met is up to chance, and to who else uses the machine: most of some forty on a
        quiet one. Each is told right in tests/unit/libc_c_function.c and race_rules.c."""
        met = set()
        for _ in range(TRIES):
            met |= self.run_one(program, variant, '4', mode)[0].keys()
            if len(met) > FLOOR:
                return
        self.fail(f'too few races were met: {met}')

    def test_nobody_reads_what_is_behind(self):
        for variant in (None, SSE2):
            with self.subTest(variant=variant):
                self.expect_silence_behind(variant)

    @unittest.skipIf(os.geteuid(), 'only root can hide the symbols')
    def test_variants_are_known_without_symbols(self):
        self.expect_silence_behind(AVX2, STRIPPED)

    def test_the_last_byte_is_read(self):
        for variant in (None, SSE2):
            with self.subTest(variant=variant):
                self.expect_races(STRINGS, variant, 'last')

    def test_linked_into_the_program(self):
        """Where they have no names what they were asked about is not known, and all is possible."""
        for variant in (None, SSE2):
            with self.subTest(variant=variant):
                self.expect_silence_behind(variant, program=STATIC)
                self.expect_silence_behind(variant, program=NAMELESS, seen='hits-unbounded')
        self.expect_races(STATIC, None, 'last')

    def test_memory_handed_over_is_the_programs(self):
        self.expect_races(CALLS, None, 'racing')

    def test_order_is_kept_and_the_librarys_own_is_no_race(self):
        for mode in ('locked', 'apart'):
            with self.subTest(mode=mode):
                found, _ = self.run_one(CALLS, None, '3', mode)
                self.assertEqual(found, {})


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
