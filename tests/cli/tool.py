#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trapline run --tool`: another person's detector, the example that finds false sharing.

usage: tests/cli/tool.py build/trapline build/examples/tool_false_sharing.so build/tests/cli/false_sharing"""
import os
import subprocess
import sys
import unittest

TRAPLINE, TOOL, PROGRAM = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
SKIP = 77


def run(*arguments, tool=TOOL):
    return subprocess.run([TRAPLINE, "run", "--aggressive", "--tool", tool, "--", PROGRAM, *arguments],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                          check=False)


class Tool(unittest.TestCase):
    def test_it_finds_the_line_that_is_shared(self):
        result = run()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"cache line 0x[0-9a-f]+0: thread \d+ writes")

    def test_and_none_where_none_is(self):
        result = run("apart")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("cache line", result.stderr)

    def test_a_file_that_is_no_tool_is_refused(self):
        for tool in (PROGRAM, "/nonexistent.so", __file__):
            result = run(tool=tool)
            self.assertNotEqual(result.returncode, 0)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(tool, result.stderr)


def machine_works():
    return subprocess.run([TRAPLINE, "doctor", "--json"], capture_output=True,
                          check=False).returncode == 0


if __name__ == "__main__":
    if not machine_works() and os.environ.get("TRAPLINE_REQUIRE_HARDWARE") != "1":
        print("no hardware watchpoints here; see `trapline doctor`")
        sys.exit(SKIP)
    unittest.main(verbosity=2)
