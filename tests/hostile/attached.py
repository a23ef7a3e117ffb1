#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program and attaches to it again and again while it runs; ends as the program does.

usage: attached.py TRAPLINE PROGRAM OUTPUT COMMAND…

What was found, in all rounds, is in OUTPUT."""
import os
import signal
import subprocess
import sys

ROUNDS = 10


def attach(trapline, child, output, command, how):
    part = output + ".part"
    finds = [] if command[0] == "throttle" else ["-o", part]
    done = subprocess.run([trapline, *command, "-p", str(child), *finds, *how], timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    # What is refused is refused with a sentence; whether is not asked here.
    if done.returncode not in (0, 1):
        sys.stderr.write(f"trapline ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
        os.kill(child, signal.SIGKILL)
    if os.path.exists(part):
        with open(part, "rb") as found, open(output, "ab") as all_found:
            all_found.write(found.read())
        os.remove(part)


def main():
    trapline, program, output, *command = sys.argv[1:]
    # As a shell would start it: Python ignores these.
    child = os.posix_spawn(program, [program], os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    # Every other time for long enough, and with as many hits, that threads are hit for certain.
    eager = [] if command[0] in ("watch", "throttle") else ["--aggressive"]
    for i in range(ROUNDS):
        attach(trapline, child, output, command,
               [*eager, "--duration", "0.3"] if i % 2 else ["--duration", "0.05"])
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    main()
