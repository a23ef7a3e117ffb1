#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that begins one OpenMP region and ends: where its threads conflict is foretold as they begin.

usage: team.py TRAPLINE RACING FREE"""
import json
import os
import subprocess
import sys
import tempfile

# On a busy machine the controller comes too late as often as not.
RACING_RUNS = 20
FREE_RUNS = 4


def run(trapline, program, output, options):
    """What was found of classes that are shown."""
    subprocess.run([trapline, "race", "-o", output, *options, "--", program], check=True, timeout=60,
                   stderr=subprocess.DEVNULL)
    with open(output, encoding="utf-8") as stream:
        found = [json.loads(line) for line in stream]
    return [finding for finding in found if finding.get("kind") == "data-race"
            and finding["class"] != "possible" and not finding.get("known")]


def main():
    trapline, racing, free = sys.argv[1:]
    if subprocess.run([trapline, "doctor"], capture_output=True, check=False).returncode:
        print("skipped: `trapline doctor` says that it cannot work here")
        return 1 if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") == "1" else 77
    with tempfile.TemporaryDirectory() as directory:
        output = os.path.join(directory, "found.jsonl")
        for runs in range(1, RACING_RUNS + 1):
            found = run(trapline, racing, output, [])
            if any(finding["strategy"] == "team" for finding in found):
                break
        else:
            raise AssertionError(f"nothing found in {RACING_RUNS} runs")
        print(f"found in run {runs}: {found[0]['object'].get('name')}")
        assert found[0]["object"].get("name", "").startswith("value["), found[0]["object"]
        off = run(trapline, racing, output, ["--without", "team"])
        assert all(finding["strategy"] != "team" for finding in off), off
        for _ in range(FREE_RUNS):
            found = run(trapline, free, output, [])
            assert not found, found
    return 0


if __name__ == "__main__":
    sys.exit(main())
