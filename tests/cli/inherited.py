#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program inherits of who started it is the same under trapline: limits however small, ignored signals,
scheduling, the slack of its timers, timers that run; also where the library is loaded and where the program is entered.

usage: inherited.py TRAPLINE PROGRAM STATIC_PROGRAM"""
import ctypes
import resource
import signal
import subprocess
import sys

COMMANDS = (["race"], ["heap"], ["throttle", "--cpu", "90%"], ["watch", "main:x"])
PR_SET_TIMERSLACK = 29


def limited(what, value):
    return lambda: resource.setrlimit(what, (value, value))


def ignoring(*signals):
    return lambda: [signal.signal(number, signal.SIG_IGN) for number in signals]


def slack():
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 12345)
    ignoring(signal.SIGTRAP)()


STARTS = {
    "as usual": None,
    "no files of any size": limited(resource.RLIMIT_FSIZE, 0),
    "small files": limited(resource.RLIMIT_FSIZE, 100000),
    "four descriptors": limited(resource.RLIMIT_NOFILE, 4),
    "eight descriptors": limited(resource.RLIMIT_NOFILE, 8),
    "SIGTRAP ignored": ignoring(signal.SIGTRAP),
    "others ignored": ignoring(signal.SIGSEGV, signal.SIGABRT, signal.SIGCHLD, signal.SIGPIPE, signal.SIGALRM),
    "slack": slack,
    "an alarm to come": lambda: signal.alarm(300),
    "all timers": lambda: [signal.setitimer(which, 300) for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL,
                                                                     signal.ITIMER_PROF)],
}
# Without privilege no controller can be had then. A program runs bare, but not without the limit asked for.
REFUSED = {"no files of any size", "small files", "four descriptors", "eight descriptors"}


def run(command, before):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60, preexec_fn=before, check=False)


def differences(trapline, program, name):
    bare = run([program], STARTS[name])
    for command in COMMANDS:
        if command[0] == "throttle" and name in REFUSED:
            continue
        under = run([trapline, *command, "--", program], STARTS[name])
        if (under.stdout, under.returncode) != (bare.stdout, bare.returncode):
            yield f"{name}: {program} under {' '.join(command)}: {under}, bare {bare}"


def alarmed(trapline, command):
    """The program dies of an alarm that was set before it was executed, as `perl -e 'alarm …; exec …'` does."""
    under = run([trapline, *command, "--", "sleep", "20"], lambda: signal.alarm(3))
    if under.returncode != -signal.SIGALRM:
        yield f"alarm under {' '.join(command)}: {under}"


def main():
    trapline, *programs = sys.argv[1:]
    found = [line for program in programs for name in STARTS for line in differences(trapline, program, name)]
    found += [line for command in COMMANDS for line in alarmed(trapline, command)]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
