#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`flow from` and `flow to` choose nothing by clock samples, so they leave the budget to their watches; who looks at
samples gets them, alone or beside them. Needs no watchpoint that fires.

usage: tests/behave/flow/unsampled.py build/trapline FLOWS"""
import os
import re
import subprocess
import sys
import unittest

TRAPLINE, FLOWS = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))


def counts(*command):
    result = subprocess.run([TRAPLINE, *command, "--stats=all", "-o", os.devnull, "--", FLOWS, "globals", "0.5"],
                            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return {name: int(value) for value, name in re.findall(r"^ *(\d+)  (\S+)", result.stderr, re.M)}


class Unsampled(unittest.TestCase):
    def test_what_places_its_watches_alone_takes_no_samples(self):
        for question in ("from", "result"), ("to", "made"):
            for options in (), ("--aggressive",):
                found = counts("flow", *question, *options)
                for name in "windows", "samples", "ms-samples":
                    self.assertEqual(found[name], 0, (name, question, options))
                self.assertGreater(found["processes"], 0)

    def test_what_looks_at_samples_gets_them(self):
        self.assertGreater(counts("flow", "share")["windows"], 0)
        self.assertGreater(counts("race")["windows"], 0)


if __name__ == "__main__":
    unittest.main()
