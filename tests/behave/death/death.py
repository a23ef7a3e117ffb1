#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random moments, of the watched program or of trapline itself: no finding that was made is
lost, and a program whose controller is gone goes on as if it had never been watched.

usage: tests/behave/death/death.py build/trapline build/tests/behave/death/racer [ROUNDS [SEED]]

1,000 rounds take five minutes; the default is what a test suite can bear."""
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ROUNDS = 24
SECONDS = 1.0
SHOWN = re.compile(r"^data race, .*\[([0-9a-f]{16})\]$", re.M)


def fail(sentence, text=""):
    sys.exit(f"death: not so: {sentence}\n{text[-2000:]}")


def children(pid):
    """Those that run the program; what is still to become one dies with trapline, as unstarted."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            found = [int(child) for child in file.read().split()]
        return [child for child in found if os.readlink(f"/proc/{child}/exe") != os.readlink(f"/proc/{pid}/exe")]
    except FileNotFoundError:
        return []


def written(path, may_be_cut):
    """The ids in the file; every line must be whole, but for the last where the writer was killed."""
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    if lines.pop() and not may_be_cut:
        fail("the last line is whole")
    return {json.loads(line)["id"] for line in lines}


def one_round(trapline, racer, folder, chance):
    """(whose death it was, how many findings there were)"""
    output, errors = os.path.join(folder, "out.jsonl"), os.path.join(folder, "errors")
    of_program = chance.random() < 0.6
    with open(errors, "w+", encoding="utf-8") as stderr, subprocess.Popen(
            [trapline, "race", "-q", "--foreground", "-o", output, "--", racer, str(SECONDS)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=stderr, text=True, start_new_session=True) as process:
        time.sleep(chance.uniform(0, SECONDS))
        program = children(process.pid)
        try:
            os.kill(program[0] if of_program and program else process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            stdout, _ = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            fail(f"all ends within 30 s of the death of {'the program' if of_program else 'trapline'}")
        stderr.seek(0)
        shown = set(SHOWN.findall(stderr.read()))
    if of_program and program:
        if process.returncode != -signal.SIGKILL:
            fail(f"trapline ends as its program did, not with status {process.returncode}")
    elif program and "the program ended by itself" not in stdout:
        fail("the program goes on without trapline", stdout)
    found = written(output, may_be_cut=not of_program)
    if shown - found:
        fail(f"what was shown was written: {shown - found}")
    for path in (output, errors):
        if os.path.exists(path):
            os.unlink(path)
    return of_program and bool(program), len(found)


def full_disk(trapline, racer):
    """What cannot be written is said, and shown all the same."""
    result = subprocess.run([trapline, "race", "-q", "-o", "/dev/full", "--", racer, str(2 * SECONDS)],
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    if result.returncode != 7 or result.stderr.count("/dev/full cannot be written") != 1:
        fail("a full disk is named once and changes nothing else", result.stderr)
    if not SHOWN.search(result.stderr):
        fail("what cannot be written is shown", result.stderr)


def main():
    trapline, racer = map(os.path.abspath, sys.argv[1:3])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else time.time_ns()
    chance, deaths, findings = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory(prefix="trapline-death-") as folder:
        for _ in range(rounds):
            of_program, found = one_round(trapline, racer, folder, chance)
            deaths += of_program
            findings += found
    full_disk(trapline, racer)
    print(f"{deaths} deaths of the program, {rounds - deaths} of trapline, {findings} findings written (seed {seed})")
    if not findings:
        fail("some findings are made in the time")


if __name__ == "__main__":
    main()
