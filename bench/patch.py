# SPDX-License-Identifier: Apache-2.0
"""Delays of callers while a function is replaced: docs/benchmarks/patch.md and its plot."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from plot import plot  # noqa: E402

ROUNDS = 50
WAYS = {"none": "no patching", "jump": "trapline", "breakpoint": "trapline --breakpoint",
        "ptrace": "stop all by ptrace"}


def select(rows, way):
    return {r["threads"]: r for r in rows if r["way"] == way}


def table(rows, cell, last):
    out = ["| threads | " + " | ".join(WAYS.values()) + f" | {last} |",
           "|---" * (len(WAYS) + 2) + "|"]
    for count in sorted({r["threads"] for r in rows}):
        found = {way: select(rows, way)[count] for way in WAYS}
        cells = [cell(found[way]) for way in WAYS]
        ratio = found["ptrace"]["operation" if last.startswith("time") else "median"] \
            / found["jump"]["operation" if last.startswith("time") else "median"]
        out.append(f"| {count} | " + " | ".join(cells) + f" | {ratio:.1f} |")
    return out


def main(build, docs):
    output = subprocess.run([str(build / "bench" / "patch"), str(ROUNDS)], check=True,
                            capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in output.splitlines()]
    plot(docs / "patch.svg", "Longest delay of a caller while a function is replaced", "threads",
         "µs, median", {name: [(count, r["median"] / 1000) for count, r in sorted(select(rows, way).items())]
                        for way, name in WAYS.items()}, log_x=True, log_y=True)
    text = ["## Hot patching", "",
            "Reproduce: `make bench BENCHES=patch`. Threads call a function 20 times every millisecond; "
            f"it is replaced and restored {ROUNDS} times each way, in turns in one run. Trapline does its "
            "work in portions of 10 µs and offers its CPU to the threads after each.", "",
            "The longest delay of any thread in an operation, µs: median (90th percentile; largest) of "
            "all operations. What the machine does by itself is in the first column; on breakpoints every "
            "call is a hit for as long as the patch stands.", "",
            *table(rows, lambda r: f"{r['median'] / 1000:.0f} ({r['p90'] / 1000:.0f}; "
                                   f"{r['largest'] / 1000:.0f})", "ptrace / trapline"), "",
            "![delays](benchmarks/patch.svg)", "",
            "Time of an operation, µs, median. Trapline's is spent beside the threads, which run meanwhile; "
            "most of it goes into reading whether each can take the trap's signal:", "",
            *table(rows, lambda r: f"{r['operation'] / 1000:.0f}", "time, ptrace / trapline"), ""]
    (docs / "patch.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
