#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long is a thread stopped by `trapline race -p`? Told by the kernel's scheduler, not by trapline.

usage: stops.py TRAPLINE PID [SECONDS]

Attaches to the process (a server under load, which somebody else started) and leaves it again, ten times a second
if the machine can, for 60 seconds. `perf record`, as root, sees each thread leave its CPU in state `t` (traced) and be woken
from that. A thread that is traced again within 1 ms has made a call in between: that is one stop, from the first to the last."""
import os
import re
import subprocess
import sys
import tempfile
import time

PERIOD = 0.1  # s, of a round
GAP = 1e-3    # s
EVENT = re.compile(r"^\s*(\d+\.\d+):\s+sched:(?:sched_switch: .*prev_pid=(\d+) .*prev_state=(\S+) ==>|sched_waking: .*pid=(\d+))")


def rounds(trapline, pid, seconds):
    """How many there were, and those that did not end with 0."""
    end, count, failed = time.monotonic() + seconds, 0, []
    while time.monotonic() < end:
        begin = time.monotonic()
        done = subprocess.run([trapline, "race", "-q", "-p", pid, "--duration", "0.02"], capture_output=True, text=True,
                              check=False)
        count += 1
        if done.returncode:
            failed.append(done.stderr.strip())
        time.sleep(max(0.0, begin + PERIOD - time.monotonic()))
    return count, failed


def threads(pid):
    """Of the process and its children, as they are now: later ones are not measured."""
    found = set()
    for tid in os.listdir(f"/proc/{pid}/task"):
        found.add(tid)
        with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as file:
            for child in file.read().split():
                found |= threads(child)
    return found


def stops_in(text, wanted):
    """Seconds that each of these threads was stopped at a time."""
    since, found = {}, {}
    for line in text:
        match = EVENT.search(line)
        if not match:
            continue
        at, left, state, woken = float(match[1]), match[2], match[3], match[4]
        if woken in since:
            stops = found.setdefault(woken, [])
            begin = since.pop(woken)
            if stops and begin - stops[-1][1] < GAP:
                begin = stops.pop()[0]
            stops.append((begin, at))
        if left in wanted and "t" in state:
            since[left] = at
    return sorted(end - begin for stops in found.values() for begin, end in stops)


def main():
    trapline, pid = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 60
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "perf.data")
        wanted = threads(pid)
        # Those of all others are too many for a busy machine to write down.
        left = " || ".join(f"prev_pid == {tid}" for tid in wanted)
        woken = " || ".join(f"pid == {tid}" for tid in wanted)
        record = subprocess.Popen(["perf", "record", "-q", "-a", "-m", "4M", "-e", "sched:sched_switch", "--filter", left,
                                   "-e", "sched:sched_waking", "--filter", woken, "-o", data])
        time.sleep(1)
        count, failed = rounds(trapline, pid, seconds)
        record.terminate()
        record.wait()
        script = subprocess.Popen(["perf", "script", "-i", data, "-F", "time,event,trace"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        stops = stops_in(script.stdout, wanted)
        script.wait()
    print(f"{count} rounds, {len(failed)} refused", *sorted(set(failed)), sep="\n")
    if stops:
        print(f"{len(stops)} stops; ms: median {1e3 * stops[len(stops) // 2]:.2f}, p99 {1e3 * stops[len(stops) * 99 // 100]:.2f}, "
              f"p99.9 {1e3 * stops[len(stops) * 999 // 1000]:.2f}, longest {1e3 * stops[-1]:.2f}")


if __name__ == "__main__":
    main()
