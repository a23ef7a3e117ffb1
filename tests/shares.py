# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a unittest file two at a time, each in a process of its own: for tests that mostly sleep and
run alone, so that each case has a processor. In place of unittest.main():

    shares.main(KNOWN, machine_works, ALONE)

KNOWN words of the command line come before the names of cases; with names these run here, one after the other. The cases
in ALONE need all processors, and run when the others have."""
import concurrent.futures
import os
import re
import subprocess
import sys
import unittest

AT_ONCE = 2  # processors of the machines that run them
SHARE = "TRAPLINE_TEST_SHARE"  # set for such a process: the machine was looked at already


def cases():
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    return [case.id().removeprefix("__main__.") for suite in tests for case in suite]


def run_case(name):
    return subprocess.run([sys.executable, *sys.argv, name], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", env={**os.environ, SHARE: name}, check=False)


def run_all(alone):
    names = [name for name in cases() if name not in alone]
    failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        beside = list(pool.map(run_case, names))
    names += alone
    for name, result in zip(names, [*beside, *map(run_case, alone)]):
        skipped += bool(re.search(r"^OK \(skipped=1\)", result.stderr, re.M))
        failed += result.returncode != 0
        if result.returncode:
            print(f"{name}: status {result.returncode}\n{result.stdout}{result.stderr}", file=sys.stderr, flush=True)
    print(f"Ran {len(names)} tests\n", file=sys.stderr)
    print(f"FAILED (failures={failed})" if failed else f"OK (skipped={skipped})" if skipped else "OK", file=sys.stderr)
    return int(bool(failed) or not names)


def main(known, machine_works, alone=()):
    names = sys.argv[1 + known:]
    if SHARE not in os.environ and os.environ.get("TRAPLINE_REQUIRE_HARDWARE") != "1" and not machine_works():
        print("hardware watchpoints do not fire here")
        sys.exit(77)
    if names:
        unittest.main(argv=[sys.argv[0], *names])
    sys.exit(run_all(alone))
