#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/container/allow-perf: a container's seccomp profile with what Trapline needs.

usage: tests/cli/allow_perf.py examples/container/allow-perf"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath(sys.argv.pop(1))


def run(text):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        return subprocess.run([SCRIPT, file.name], capture_output=True, text=True, check=False)


class AllowPerf(unittest.TestCase):
    def test_an_entry_is_added(self):
        before = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW"}]}
        after = json.loads(run(json.dumps(before)).stdout)
        self.assertEqual(after["syscalls"][:1], before["syscalls"])
        self.assertIn("perf_event_open", after["syscalls"][1]["names"])
        self.assertNotIn("includes", after["syscalls"][1])
        self.assertEqual(after["defaultAction"], "SCMP_ACT_ERRNO")

    def test_what_forbids_it_by_name(self):
        """Podman's profile does, for who lacks CAP_SYS_ADMIN."""
        before = {"syscalls": [{"names": ["bpf", "perf_event_open"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1,
                                "excludes": {"caps": ["CAP_SYS_ADMIN"]}},
                               {"names": ["perf_event_open"], "action": "SCMP_ACT_KILL"}]}
        after = json.loads(run(json.dumps(before)).stdout)["syscalls"]
        self.assertEqual(after[0], {**before["syscalls"][0], "names": ["bpf"]})
        self.assertEqual([rule["action"] for rule in after if "perf_event_open" in rule["names"]], ["SCMP_ACT_ALLOW"])

    def test_what_is_no_profile_is_refused(self):
        for text in ("", "[]", "{}", '{"syscalls": 1}', "null"):
            result = run(text)
            self.assertEqual((result.returncode, result.stdout, len(result.stderr.splitlines())), (1, "", 1), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
