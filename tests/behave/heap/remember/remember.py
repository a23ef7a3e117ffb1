#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--remember: a run that sees an overwrite by its broken pattern alone leaves the context in a file, by
which the next one finds who did it; files of several runs are merged, and bad ones left as they are.

usage: remember.py TRAPLINE PROGRAM"""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile

FIRST_LINE = "trapline heap contexts 1\n"
OTHER = "00112233445566778899aabbccddeeff00112233 0x1234\n"
TRIES = 12  # one try a run: the watch is missed in few of them, even on a slow machine
RUNS, CAUGHT = 12, 8  # at a rate of 95 % fewer are caught once in 5,000 times


def heap(trapline, program, remembered, *options):
    """What it found and what it said."""
    with tempfile.NamedTemporaryFile() as output:
        run = subprocess.run([trapline, "heap", "--remember", remembered, "-o", output.name, "--stats",
                              *options, "--", *program], capture_output=True, text=True, timeout=120,
                             check=False)
        return [json.loads(line) for line in output], run


def functions(finding):
    return [frame.get("function") for access in finding["accesses"] for frame in access["stack"]]


def check_refusal(run, words, case):
    """One sentence, and the program was not started."""
    assert run.returncode == 1 and words in run.stderr and len(run.stderr.splitlines()) == 1, (case, run)


def check_bad_files(trapline, directory):
    path = os.path.join(directory, "bad")
    for text, words in (("\x7fELF\n", "is no file of `trapline heap --remember`"),
                        (FIRST_LINE + "zz 0x1\n", "line 2 is no context"),
                        (FIRST_LINE + OTHER + OTHER.strip(), "line 3 is no context"),
                        (FIRST_LINE + "00 1234\n", "line 2 is no context"),
                        (FIRST_LINE + "00 0x1 freed after\n", "line 2 is no context"),
                        (FIRST_LINE + "0" * 5000 + "\n", "line 2 is no context"),
                        (FIRST_LINE + "".join(f"00 0x{i:x}\n" for i in range(1025)), "line 1026")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        _, run = heap(trapline, ["true"], path)
        check_refusal(run, words, text[:80])
        with open(path, encoding="utf-8") as file:
            assert file.read() == text
    for other in "/dev/zero", "/dev/null", directory:
        _, run = heap(trapline, ["true"], other)
        check_refusal(run, "is no regular file", other)


def check_second_run(trapline, program, path):
    """One try a run: by the file the block is guarded from its birth on, and watched."""
    for _ in range(TRIES):
        found, run = heap(trapline, [program], path)
        assert "heap-contexts-remembered" in run.stderr, run.stderr
        if any("spoil" in functions(finding) for finding in found):
            return
    raise AssertionError(f"nobody was caught: {run.stderr}")


def check_neighbours(trapline, program, side):
    """Blocks of the same context that are born later do not take the slots of the one that is misused: runs after
    one with evidence."""
    caught = 0
    with tempfile.TemporaryDirectory() as directory:
        first, path = os.path.join(directory, "first"), os.path.join(directory, "contexts")
        heap(trapline, [program, side], first, "--all", "--without", "watch,page,sample")
        with open(first, encoding="utf-8") as file:
            assert file.read().splitlines()[1].split()[2:] == [side], side
        for _ in range(RUNS):
            shutil.copy(first, path)
            found, run = heap(trapline, [program, side], path)
            caught += any("spoil" in functions(finding) for finding in found)
    assert caught >= CAUGHT, f"of {RUNS}, {caught} were caught {side} the block: {run.stderr}"


def main():
    trapline, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        check_bad_files(trapline, directory)
        path = os.path.join(directory, "contexts")
        with open(path, "w", encoding="utf-8") as file:
            file.write(FIRST_LINE + OTHER)
        # Patterns alone: what was broken, and not by whom.
        found, run = heap(trapline, [program], path, "--all", "--without", "watch,page,sample")
        assert found and "spoil" not in functions(found[0]), (found, run.stderr)
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        assert lines[:2] == [FIRST_LINE, OTHER] and len(lines) == 3, lines
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert sorted(os.listdir(directory)) == ["bad", "contexts"]
        if subprocess.run([trapline, "doctor"], capture_output=True, check=False).returncode:
            print("skipped: `trapline doctor` says that it cannot work here")
            return 1 if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") == "1" else 77
        check_second_run(trapline, program, path)
        for side in "after", "before":
            check_neighbours(trapline, program, side)
    return 0


if __name__ == "__main__":
    sys.exit(main())
