#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""heap --all beside a context that allocates 100,000 times: every block has its patterns, the one of the rare
context is watched from its birth, and of the others some hundred are told, each of which takes a tenth of a
millisecond, not tens of thousands.

usage: hot.py TRAPLINE PROGRAM"""
import json
import os
import re
import subprocess
import sys
import tempfile

GUARDED_LEAST = 90000
TOLD_MOST = 20000  # births and frees; each block of the hot context told would be 100,000
TRIES = 8          # the watch is missed in few of them, on a busy machine


def functions(finding):
    return [frame.get("function") for access in finding["accesses"] for frame in access["stack"]]


def count(name, stats):
    match = re.search(rf"^\s*(\d+)\s+{name}\s", stats, re.MULTILINE)
    return int(match.group(1)) if match else 0


def main():
    trapline, program = sys.argv[1:]
    if subprocess.run([trapline, "doctor"], capture_output=True, check=False).returncode:
        print("skipped: `trapline doctor` says that it cannot work here")
        return 1 if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") == "1" else 77
    for _ in range(TRIES):
        with tempfile.NamedTemporaryFile() as output:
            run = subprocess.run([trapline, "heap", "--all", "-o", output.name, "--stats", "--", program],
                                 capture_output=True, text=True, timeout=120, check=False)
            found = [json.loads(line) for line in output]
        assert run.returncode == 0, run
        assert count("guards", run.stderr) >= GUARDED_LEAST, run.stderr
        assert count("notices", run.stderr) <= TOLD_MOST, run.stderr
        assert len(found) == 1 and found[0]["kind"] == "heap-buffer-overflow", found
        if "spoil" in functions(found[0]):
            return 0
    raise AssertionError(f"nobody was caught: {run.stderr}")


if __name__ == "__main__":
    sys.exit(main())
