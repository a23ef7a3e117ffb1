#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program and attaches to it again and again while it runs; ends as the program does.

usage: attached.py TRAPLINE PROGRAM"""
import os
import signal
import subprocess
import sys

ROUNDS = 10


def main():
    trapline, program = sys.argv[1:3]
    # As a shell would start it: Python ignores these.
    child = os.posix_spawn(program, [program], os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    for i in range(ROUNDS):
        # What is refused is refused with a sentence; whether is not asked here. Every other time for long
        # enough, and with as many hits, that threads are hit for certain.
        how = ["--aggressive", "--duration", "0.3"] if i % 2 else ["--duration", "0.05"]
        done = subprocess.run([trapline, "race", "-q", "-p", str(child), *how], timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode not in (0, 1):
            sys.stderr.write(f"trapline ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
            os.kill(child, signal.SIGKILL)
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    main()
