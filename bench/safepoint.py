# SPDX-License-Identifier: Apache-2.0
"""Polling, and stopping all threads, five ways: docs/benchmarks/safepoint.md and its plots."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from plot import plot  # noqa: E402

ROUNDS = 200
WAYS = {"indirect": "trapline", "trapline": "trapline, one load", "mprotect": "page protection", "signal": "signal to each thread",
        "flag": "polled flag + membarrier"}


def lines(program, *arguments):
    output = subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def select(rows, way, sleepers):
    return {r["threads"]: r for r in rows if r["way"] == way and r["sleepers"] == sleepers}


def table(rows, sleepers):
    counts = sorted({r["threads"] for r in rows})
    out = ["| threads | " + " | ".join(f"{name}, µs" for name in WAYS.values())
           + " | trapline / page protection | one load / page protection |", "|---" * (len(WAYS) + 3) + "|"]
    for count in counts:
        found = {way: select(rows, way, sleepers)[count] for way in WAYS}
        cells = [f"{found[way]['median'] / 1000:.0f} ({found[way]['p90'] / 1000:.0f})" for way in WAYS]
        ratios = [f"{found[way]['median'] / found['mprotect']['median']:.2f}" for way in ("indirect", "trapline")]
        out.append(f"| {count} | " + " | ".join(cells + ratios) + " |")
    return out


def draw(path, title, rows, sleepers):
    plot(path, title, "threads", "µs, median",
         {name: [(count, r["median"] / 1000) for count, r in sorted(select(rows, way, sleepers).items())]
          for way, name in WAYS.items()}, log_x=True, log_y=True)


def main(build, docs):
    program = str(build / "bench" / "safepoint")
    poll = lines(program, "poll")[0]
    rows = lines(program, "stop", str(ROUNDS))
    draw(docs / "safepoint-running.svg", "Time to stop threads that all poll", rows, 0)
    draw(docs / "safepoint-sleeping.svg", "Time to stop, two threads polling, the rest asleep", rows, 1)
    text = ["## Safepoints", "",
            "Reproduce: `make bench BENCHES=safepoint`. Times until all threads stand still, median "
            f"(90th percentile) of {ROUNDS}, of one run in which the ways took turns, at nice "
            f"{os.getpriority(os.PRIO_PROCESS, 0)}.", "",
            "A poll in an otherwise empty loop, ns an iteration: "
            f"none {poll['empty']:.2f}, trapline's two loads {poll['indirect']:.2f}, its one load {poll['trapline']:.2f}, page protection "
            f"{poll['mprotect']:.2f}, flag with its branch {poll['flag']:.2f}. Entering and leaving a "
            f"blocking region: {poll['region']:.0f} ns.", "",
            "Every thread polls:", "", *table(rows, 0), "",
            "![all polling](benchmarks/safepoint-running.svg)", "",
            "Two threads poll, the others sleep in a blocking region (a signal wakes them all the same):",
            "", *table(rows, 1), "", "![two polling](benchmarks/safepoint-sleeping.svg)", ""]
    (docs / "safepoint.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
