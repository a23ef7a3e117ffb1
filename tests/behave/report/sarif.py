#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SARIF output against the published schema of OASIS, and what code scanning needs beyond it.

The schema comes with an npm package and is kept in the build folder; without npm or jsonschema
that one test is skipped and the structural ones remain.

usage: tests/behave/report/sarif.py build/trapline"""
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from sample import ROOT, TRAPLINE, finding, report, write

PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
MEMBER = "package/lib/schemas/sarif-2.1.0-rtm.5.json"


def schema():
    kept = os.path.join(os.path.dirname(TRAPLINE), "sarif-2.1.0-schema.json")
    if not os.path.exists(kept) and shutil.which("npm"):
        with tempfile.TemporaryDirectory() as folder:
            try:
                packed = subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True,
                                        capture_output=True, text=True, timeout=90).stdout.split()
                with tarfile.open(os.path.join(folder, packed[-1])) as archive:
                    content = archive.extractfile(MEMBER).read()
            except (subprocess.SubprocessError, OSError, KeyError, IndexError):
                return None
            with open(kept, "wb") as file:
                file.write(content)
    if not os.path.exists(kept):
        return None
    with open(kept, encoding="utf-8") as file:
        return json.load(file)


def odd_findings():
    bare = finding(3)
    for access in bare["accesses"]:
        access["stack"] = [{"pc": "0x1", "module": "/usr/bin/a b%c", "offset": "0x1234"}]
    twin = finding(4)
    twin["accesses"][1]["stack"] = twin["accesses"][0]["stack"]
    empty = {"v": 1, "kind": "note", "message": "a [bracket] of \\ text"}
    lost = {"v": 1, "kind": "hit", "accesses": [{"op": "write", "stack": ["0x1234"]}]}
    spaced = finding(5)
    spaced["accesses"][0]["stack"][0]["file"] = "dir with space/\u00fc#?%.c"
    golden = os.path.join(ROOT, "tests/unit/report_golden/findings.jsonl")
    with open(golden, encoding="utf-8") as file:
        return [finding(1), finding(2), bare, twin, empty, lost, spaced,
                *(json.loads(line) for line in file)]


class Sarif(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            source = write(os.path.join(folder, "in.jsonl"), odd_findings())
            result = report(source, "--format", "sarif", cwd=ROOT)
        assert result.returncode == 0, result.stderr
        cls.log = json.loads(result.stdout)
        [cls.run_] = cls.log["runs"]

    def find(self, name):
        return next(one for one in self.run_["results"] if name in one["message"]["text"])

    def test_published_schema(self):
        try:
            import jsonschema  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        published = schema()
        if published is None:
            self.skipTest("the schema cannot be had from npm")
        jsonschema.validators.validator_for(published)(published).validate(self.log)

    def test_both_accesses_are_related_locations(self):
        result = self.find("variable_1")
        lines = [one["physicalLocation"]["region"]["startLine"] for one in result["relatedLocations"]]
        self.assertEqual(lines, [21, 21])
        self.assertEqual([one["id"] for one in result["relatedLocations"]], [0, 1])
        self.assertIn("](0)", result["message"]["text"])
        self.assertIn("](1)", result["message"]["text"])
        self.assertEqual(len(result["stacks"]), 2)
        self.assertEqual(len(result["stacks"][0]["frames"]), 5)

    def test_paths_are_relative_to_the_source_root(self):
        [location] = self.find("variable_1")["locations"]
        self.assertEqual(location["physicalLocation"]["artifactLocation"],
                         {"uri": "src/store/set.c", "uriBaseId": "SRCROOT"})

    def test_odd_paths_are_encoded(self):
        uri = self.find("variable_5")["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        self.assertEqual(uri, "dir%20with%20space/%C3%BC%23%3F%25.c")

    def test_levels_rules_and_fingerprints(self):
        self.assertEqual(self.find("variable_1")["level"], "warning")
        self.assertEqual(self.find("variable_3")["level"], "error")
        rules = self.run_["tool"]["driver"]["rules"]
        for result in self.run_["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            self.assertRegex(result["partialFingerprints"]["traplineId/v1"], "^[0-9a-f]{16}$")

    def test_brackets_of_text_are_no_links(self):
        self.assertIn("a \\[bracket\\] of \\\\ text", self.find("bracket")["message"]["text"])


if __name__ == "__main__":
    unittest.main()
