#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program and, when it has run for a second, `trapline race -p` on it; ends as the program does, and
where that is 0 as trapline does.

usage: attached.py TRAPLINE [OPTION…] -- PROGRAM [ARGUMENT…]"""
import os
import signal
import subprocess
import sys
import time

LATER = 1  # s: all its threads are made


def main():
    cut = sys.argv.index("--")
    trapline, *options = sys.argv[1:cut]
    # As a shell would start it: Python ignores these.
    child = os.posix_spawn(sys.argv[cut + 1], sys.argv[cut + 1:], os.environ,
                           setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    time.sleep(LATER)
    watching = subprocess.run([trapline, "race", "-p", str(child), *options], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, check=False).returncode
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        os.kill(os.getpid(), -status)
    return status or watching


if __name__ == "__main__":
    sys.exit(main())
