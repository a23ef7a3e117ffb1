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
LIMIT = 300  # seconds for one case
SHARE = "TRAPLINE_TEST_SHARE"  # set for such a process: the machine was looked at already


def cases():
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    return [case.id().removeprefix("__main__.") for suite in tests for case in suite]


def run_case(name):
    """Its name, status and what it said; a status of None: it was ended after LIMIT seconds."""
    with subprocess.Popen([sys.executable, *sys.argv, name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          env={**os.environ, SHARE: name}) as process:
        try:
            said, _ = process.communicate(timeout=LIMIT)
            return name, process.returncode, said
        except subprocess.TimeoutExpired:
            process.kill()
            return name, None, ""


class Tally:
    def __init__(self):
        self.count = self.failed = self.skipped = 0

    def take(self, name, status, said):
        """A failure is told at once: who waits for the others may be ended meanwhile."""
        self.count += 1
        self.failed += status != 0
        self.skipped += bool(re.search(r"^OK \(.*\bskipped=\d+", said, re.M))
        if status != 0:
            what = f"still ran after {LIMIT} s" if status is None else f"status {status}"
            print(f"{name}: {what}\n{said}", file=sys.stderr, flush=True)


def run_all(alone):
    tally = Tally()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        beside = [pool.submit(run_case, name) for name in cases() if name not in alone]
        for future in concurrent.futures.as_completed(beside):
            tally.take(*future.result())
    for name in alone:
        tally.take(*run_case(name))
    print(f"Ran {tally.count} tests\n", file=sys.stderr)
    print(f"FAILED (failures={tally.failed})" if tally.failed else f"OK (skipped={tally.skipped})" if tally.skipped else "OK",
          file=sys.stderr)
    return int(bool(tally.failed) or not tally.count)


def main(known, machine_works, alone=()):
    names = sys.argv[1 + known:]
    if SHARE not in os.environ and os.environ.get("TRAPLINE_REQUIRE_HARDWARE") != "1" and not machine_works():
        print("hardware watchpoints do not fire here")
        sys.exit(77)
    if names:
        unittest.main(argv=[sys.argv[0], *names])
    sys.exit(run_all(alone))
