#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A finding names the strategy that led to it, and --without switches one off.

usage: strategies.py TRAPLINE DIRECTORY"""
import os
import subprocess
import sys

import detectors
import suite

NAMES = ("aim", "sample", "code", "contended", "foresight", "team", "birth", "probe", "region-start",
         "background-thread", "argument", "coincidence", "widening", "long-holds", "reserve",
         "cooldown")


def strategies(trapline, binary, directory, options):
    """Of the findings of one run."""
    program = suite.load(["racing/hot_counter"], "racing")[0]
    run = detectors.Run(detectors.Trapline(trapline, options), program, binary,
                        os.path.join(directory, "found"))
    run.run(10, stop=True)
    os.unlink(run.output)
    return {finding["raw"].get("strategy") for finding in run.expected}


def main():
    trapline, directory = sys.argv[1:]
    wrong = subprocess.run([trapline, "race", "--without", "luck", "--", "true"], check=False,
                           capture_output=True, text=True)
    assert wrong.returncode == 2, wrong
    for name in NAMES:
        assert f"\n  {name} " in wrong.stderr, f"{name} is not listed: {wrong.stderr}"
    if subprocess.run([trapline, "doctor"], capture_output=True, check=False).returncode:
        print("skipped: `trapline doctor` says that it cannot work here")
        return 1 if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") == "1" else 77
    binary = suite.build(suite.load(["racing/hot_counter"], "racing")[0], directory, None)
    found = strategies(trapline, binary, directory, [])
    assert found and found <= set(NAMES[:11]), found
    # A busy program's race is sampled data as a rule; without that it is found in another way.
    found = strategies(trapline, binary, directory, ["--without", "sample"])
    assert "sample" not in found, found
    found = strategies(trapline, binary, directory,
                       [word for name in NAMES for word in ("--without", name)])
    assert not found, found
    return 0


if __name__ == "__main__":
    sys.exit(main())
