# SPDX-License-Identifier: Apache-2.0
"""Cost of a hit and of arming: docs/benchmarks/engine.md and its plot."""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from plot import plot  # noqa: E402

GDB_HITS = 300
ROUNDS = 3  # of gdb, and of arming: each of them starts a thousand threads


def lines(program, *arguments):
    output = subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def under_gdb(program):
    """ns a write under a gdb hardware watchpoint whose commands are empty but for `continue`."""
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as script:
        script.write("set pagination off\nbreak write_watched\nrun\nwatch watched\n"
                     "commands\nsilent\ncontinue\nend\ndelete 1\ncontinue\n")
        script.flush()
        output = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", script.name, "--args", program, "plain",
                                 str(GDB_HITS)], capture_output=True, text=True, timeout=300).stdout
    found = [json.loads(line) for line in output.splitlines() if line.startswith('{"what":"plain"')]
    return found[0]["write"] if found else None


def spread(ratios):
    """The median, and between what nine of ten lie; the extremes of a few."""
    ordered = sorted(ratios)
    cut = len(ordered) // 20
    low, median, high = ordered[cut], statistics.median(ordered), ordered[-1 - cut]
    digits = 0 if median >= 10 else 2
    return f"{median:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def middle_of(rounds):
    """Row by row and value by value the median of the rounds."""
    return [{name: statistics.median(row[name] for row in rows) if name != "what" else rows[0][name] for name in rows[0]}
            for rows in zip(*rounds)]


def main(build, docs):
    program = str(build / "bench" / "engine")
    hits = lines(program, "hits")
    rounds = [lines(program, "arming") for _ in range(ROUNDS)]
    arming = middle_of(rounds)
    gdb = [took for took in (under_gdb(program) for _ in range(ROUNDS)) if took]

    def ratio(a, b):
        return spread([row[a] / row[b] for row in hits])

    def by_threads(name):
        return spread([arm[-1][name] / arm[0][name] for arm in rounds])

    def median(name):
        return statistics.median(row[name] for row in hits) / 1000

    plot(docs / "arming.svg", "Arming by number of (sleeping) threads", "threads", "µs",
         {"disable + enable": [(r["threads"], r["enable_disable"] / 1000) for r in arming],
          "move, disabled": [(r["threads"], r["move"] / 1000) for r in arming],
          "open + close, one thread": [(r["threads"], r["open_close_one"] / 1000) for r in arming],
          "open + close, process": [(r["threads"], r["open_close_process"] / 1000) for r in arming]},
         log_x=True, log_y=True)
    one, thousand = arming[0], arming[-1]
    text = ["## A hit, and arming", "",
            "Reproduce: `make bench BENCHES=engine`. Ratios are medians of pairs taken in turns in one run, and between what nine of ten "
            f"pairs lie; those of gdb and of arming, of {ROUNDS} runs, and their extremes.", "",
            "| what | ratio | figures |", "|---|---|---|",
            f"| library write hit / bare sigaction handler | {ratio('library_write', 'bare_write')} | "
            f"{median('library_write'):.2f} / {median('bare_write'):.2f} µs |",
            f"| library read hit (decoded) / bare handler on read+write | {ratio('library_read', 'bare_read')} | "
            f"{median('library_read'):.2f} / {median('bare_read'):.2f} µs |",
            f"| mprotect + single step / library write hit | {ratio('mprotect', 'library_write')} | "
            f"{median('mprotect'):.2f} µs; the page is open to all threads meanwhile |"]
    if gdb:
        text.append(f"| gdb hardware watchpoint with empty commands / library write hit | "
                    f"{spread([took / 1000 / median('library_write') for took in gdb])} | {statistics.median(gdb) / 1000:.0f} µs |")
    text += [f"| arming one chosen thread, 1000 threads / 1 | "
             f"{by_threads('open_close_one')} | "
             f"{thousand['open_close_one'] / 1000:.1f} / {one['open_close_one'] / 1000:.1f} µs |",
             f"| move of a disabled inherited event, 1000 threads / 1 | {by_threads('move')} | "
             f"{thousand['move'] / 1000:.0f} / {one['move'] / 1000:.1f} µs |",
             f"| disable + enable of an inherited event, 1000 threads / 1 | "
             f"{by_threads('enable_disable')} | "
             f"{thousand['enable_disable'] / 1000:.0f} / {one['enable_disable'] / 1000:.1f} µs |",
             "", "![arming](benchmarks/arming.svg)", ""]
    (docs / "engine.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
