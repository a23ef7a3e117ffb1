#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one command and whatever it leaves in the background, and tells what all of them cost.

usage: session.py REPORT COMMAND…

Ends when the last of them has ended; SIGTERM kills those that are left. REPORT is a JSON object: `status`
of the command (negative: the signal), `cpu` of all, in seconds, and `killed`, how many did not end."""
import ctypes
import json
import os
import resource
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36


def descendants(root):
    """The live processes below one, oldest first: by their start, since numbers begin anew."""
    parents, starts = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(entry)], starts[int(entry)] = int(fields[1]), int(fields[19])
    found, new = set(), {root}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return sorted(found, key=lambda pid: (starts[pid], pid))


def main():
    report, line = sys.argv[1], sys.argv[2:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    outcome = {"status": None, "cpu": 0.0, "killed": 0}

    def kill_all(_number, _frame):
        left = descendants(os.getpid())
        outcome["killed"] += len(left)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    command = os.posix_spawnp(line[0], line, os.environ)
    signal.signal(signal.SIGTERM, kill_all)
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            break
        if pid == command:
            # As a shell tells it.
            outcome["status"] = os.waitstatus_to_exitcode(status)
            if outcome["status"] < 0:
                outcome["status"] = 128 - outcome["status"]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome["cpu"] = used.ru_utime + used.ru_stime
    with open(report, "w", encoding="utf-8") as file:
        json.dump(outcome, file)


if __name__ == "__main__":
    main()
