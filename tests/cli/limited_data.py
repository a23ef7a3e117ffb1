#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that limits its own data (RLIMIT_DATA) to a little more than it has gets that little as bare, whatever
tool is on: tables of the preload library do not count. (Those of regions do: docs/HOSTILE.md.)

usage: limited_data.py TRAPLINE PROGRAM"""
import subprocess
import sys

COMMANDS = (["race"], ["heap"], ["heap", "--all"], ["stack"], ["uninit"], ["uninit", "--all"], ["flow", "map"],
            ["throttle", "--cpu", "90%"], ["run", "--tool", "race,heap,stack,uninit"])


def run(command):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            timeout=60, check=False)
    return result.returncode, result.stdout


def main():
    trapline, program = sys.argv[1:]
    bare = run([program])
    if bare[0] == 77:
        return 77
    found = [(command, under) for command in COMMANDS if (under := run([trapline, *command, "--", program])) != bare]
    for command, under in found:
        print(f"under {' '.join(command)}: {under}, bare {bare}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
