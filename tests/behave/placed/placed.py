#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Watches that a tool places itself: n accesses give n hits, in one thread or all; they end when
they are taken away or have had their hits; several tools share the slots.

usage: tests/behave/placed/placed.py build/trapline TOOL.so EXAMPLE.so PROGRAM"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

TRAPLINE, TOOL, EXAMPLE, PROGRAM = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
SKIP = 77


def addresses():
    """The program is linked at a fixed place."""
    text = subprocess.run(["nm", PROGRAM], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^([0-9a-f]+) \w (shared|lonely|limited|visit)$", text, re.MULTILINE)
    return [f"--tool-option=placing.{name}={address}" for address, name in found]


def run(*options):
    known = addresses() if any(TOOL in option for option in options) else []  # refused where the tool is not there
    result = subprocess.run([TRAPLINE, "run", "--aggressive", *options, *known, "--", PROGRAM],
                            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                            check=False)
    return result.returncode, result.stdout, result.stderr


class Placed(unittest.TestCase):
    def test_each_access_is_a_hit(self):
        # On a busy machine hits may come faster than they are taken. That is counted, and tried again.
        for _ in range(10):
            status, output, errors = run("--stats", "--tool", TOOL)
            self.assertEqual((status, output), (0, "200\n"), errors)
            if "hits-dropped" not in errors:
                break
        self.assertIn("slots 4 armed 0 0 0 0 again -17 full -16", errors)
        self.assertRegex(errors, r"shared 200 lonely 20 limited 10 code 200 strange 0 "
                                 r"stackless 0 unwound 4[23]0 ended 0 0 10 0")

    def test_tools_share_the_slots(self):
        status, output, errors = run("--tool", TOOL + ",race")
        self.assertEqual((status, output), (0, "200\n"), errors)
        self.assertIn("slots 2 armed 0 0 -16 -16 again -17", errors)
        self.assertRegex(errors, r"shared 200 lonely 20 limited 0 code 0")

    def test_what_nobody_asked_for_is_told(self):
        """A tool of somebody else may ask late, so that it shows at the end."""
        _, output, errors = run("--tool", EXAMPLE, "--tool-option", "variable=shared", "--tool-option", "depth=3")
        self.assertEqual(output, "200\n", errors)
        self.assertIn("--tool-option 'depth=3': no tool of this run has asked for it", errors)

    def test_an_unknown_tool_is_refused(self):
        for names in ("rice", "race,rice"):
            status, _, errors = run("--tool", names)
            self.assertNotEqual(status, 0)
            self.assertIn("there is no tool 'rice'", errors)
            self.assertEqual(len(errors.splitlines()), 1)


def second_writers(variable):
    """What the example finds that docs/tools.md explains."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "findings")
        status, output, errors = run("--tool", EXAMPLE, "--tool-option", "single-writer.variable=" + variable, "-o", file)
        with open(file, encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines]
    return status, output, errors, [finding for finding in found if finding["kind"] == "second-writer"]


class Example(unittest.TestCase):
    def test_a_second_writer_is_told_with_both_stacks(self):
        status, output, errors, found = second_writers("shared")
        self.assertEqual((status, output), (0, "200\n"), errors)
        self.assertEqual(len(found), 1, errors)
        self.assertEqual(found[0]["variable"], "shared")
        self.assertEqual(found[0]["object"]["name"], "shared")
        places = [access["stack"][0]["function"] for access in found[0]["accesses"]]
        self.assertEqual(places, ["visit", "visit"])
        self.assertEqual(len({access["tid"] for access in found[0]["accesses"]}), 2)

    def test_a_single_one_is_not(self):
        status, output, errors, found = second_writers("lonely")
        self.assertEqual((status, output, found), (0, "200\n", []), errors)
        self.assertNotIn("not watched", errors)

    def test_what_cannot_be_watched_is_told_once(self):
        _, _, errors, found = second_writers("nobody_knows")
        self.assertEqual(found, [])
        self.assertEqual(errors.count("nobody_knows is not watched yet: "), 1, errors)


def machine_works():
    return subprocess.run([TRAPLINE, "doctor", "--json"], capture_output=True,
                          check=False).returncode == 0


if __name__ == "__main__":
    if not machine_works() and os.environ.get("TRAPLINE_REQUIRE_HARDWARE") != "1":
        print("no hardware watchpoints here; see `trapline doctor`")
        sys.exit(SKIP)
    unittest.main(verbosity=2)
