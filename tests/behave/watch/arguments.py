#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A watched argument does not kill the program that is executed with it.

usage: tests/behave/watch/arguments.py build/trapline build/tests/behave/watch/watch_arguments"""
import os
import subprocess
import sys

trapline, program = map(os.path.abspath, sys.argv[1:3])
result = subprocess.run([trapline, "watch", "argument:4:rw", "--count", "--", program],
                        capture_output=True, text=True, timeout=60, check=False)
print(result.stdout, result.stderr)
hits = [line for line in result.stderr.splitlines() if "argument:4" in line]
if result.returncode == 1 and "cannot" in result.stderr and os.environ.get("TRAPLINE_REQUIRE_HARDWARE") != "1":
    sys.exit(77)
sys.exit(result.returncode or result.stdout != "0 of 20 ended badly\n" or not hits)
