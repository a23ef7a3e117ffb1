#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of a millisecond, in which a thread and its creator, or two threads created one after the other,
access an object once each: where they conflict is foretold as the threads are created.

usage: birth.py TRAPLINE RACING… FREE…, as many of the one as of the other"""
import json
import os
import subprocess
import sys
import tempfile

# On a busy machine the controller comes too late as often as not.
RACING_RUNS = 20
FREE_RUNS = 4


def run(trapline, program, output, options=()):
    """What was found of classes that are shown."""
    subprocess.run([trapline, "race", "-o", output, *options, "--", program], check=True, timeout=60,
                   stderr=subprocess.DEVNULL)
    with open(output, encoding="utf-8") as stream:
        found = [json.loads(line) for line in stream]
    return [finding for finding in found if finding.get("kind") == "data-race"
            and finding["class"] != "possible" and not finding.get("known")]


def is_it(finding):
    """The object is named where its name is known at all: not one of the heap, nor of a frame that has gone on."""
    name = finding["object"].get("name")
    return finding["strategy"] == "birth" and (not name or "object" in name)


def find(trapline, program, output):
    for runs in range(1, RACING_RUNS + 1):
        found = run(trapline, program, output)
        if any(is_it(finding) for finding in found):
            return runs
    raise AssertionError(f"{program}: nothing found in {RACING_RUNS} runs")


def main():
    trapline, *programs = sys.argv[1:]
    racing, free = programs[:len(programs) // 2], programs[len(programs) // 2:]
    if subprocess.run([trapline, "doctor"], capture_output=True, check=False).returncode:
        print("skipped: `trapline doctor` says that it cannot work here")
        return 1 if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") == "1" else 77
    with tempfile.TemporaryDirectory() as directory:
        output = os.path.join(directory, "found.jsonl")
        for program in racing:
            print(f"{os.path.basename(program)}: found in run {find(trapline, program, output)}")
        off = run(trapline, racing[0], output, ["--without", "birth"])
        assert all(finding["strategy"] != "birth" for finding in off), off
        for program in free:
            for _ in range(FREE_RUNS):
                found = run(trapline, program, output)
                assert not found, found
    return 0


if __name__ == "__main__":
    sys.exit(main())
