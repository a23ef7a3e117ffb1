#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/run-tests counts what fails beside others by what it comes to alone, and what hangs once.

usage: tests/runner_check.py scripts/run-tests"""
import os
import subprocess
import sys
import tempfile
import unittest

RUN_TESTS = os.path.abspath(sys.argv.pop(1))
PROJECT = """project('tests')
shell = find_program('sh')
foreach name, script : {
  'good': 'echo >> good',
  'unlucky': 'echo >> unlucky; test $(wc -l < unlucky) = 2',
  'bad': 'echo >> bad; echo because of this; exit 1',
  'hanging': 'echo >> hanging; exec sleep 60',
  'idle': 'echo >> idle; exit 77',
  'partial': 'echo >> partial; echo same good.c; echo skipped bad.rs: no rustc; echo nginx  skipped: no wrk',
}
  test(name, shell, args: ['-c', script], workdir: meson.current_build_dir(), timeout: name == 'hanging' ? 3 : 60)
endforeach
"""


class Runner(unittest.TestCase):
    def test_what_is_run_again(self):
        with tempfile.TemporaryDirectory() as source:
            with open(os.path.join(source, "meson.build"), "w", encoding="utf-8") as file:
                file.write(PROJECT)
            build = os.path.join(source, "build")
            subprocess.run(["meson", "setup", build, source], check=True, capture_output=True)
            run = subprocess.run([RUN_TESTS, build], capture_output=True, text=True, check=False, timeout=100)
            runs = {}
            for name in ("good", "unlucky", "bad", "hanging", "idle", "partial"):
                with open(os.path.join(build, name), encoding="utf-8") as file:
                    runs[name] = len(file.readlines())
        self.assertEqual(runs, {"good": 1, "unlucky": 2, "bad": 2, "hanging": 1, "idle": 1, "partial": 1}, run.stdout)
        self.assertIn("again: unlucky failed beside others; alone: ok\n", run.stdout)
        self.assertIn("FAILED: bad (fail)\nwhy: because of this\nFAILED: hanging (timeout)\n3 passed, 2 failed, 1 skipped\n", run.stdout)
        self.assertIn("skipped in part: partial (2 of its cases)\n", run.stdout)
        self.assertEqual(run.returncode, 1)


if __name__ == "__main__":
    unittest.main()
