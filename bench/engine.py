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


def main(build, docs):
    program = str(build / "bench" / "engine")
    hits = lines(program, "hits")
    arming = lines(program, "arming")
    gdb = under_gdb(program)

    def ratio(a, b):
        return statistics.median(row[a] / row[b] for row in hits)

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
            "Reproduce: `make bench BENCHES=engine`. Ratios are medians of pairs taken in turns in one run.", "",
            "| what | ratio | figures |", "|---|---|---|",
            f"| library write hit / bare sigaction handler | {ratio('library_write', 'bare_write'):.2f} | "
            f"{median('library_write'):.2f} / {median('bare_write'):.2f} µs |",
            f"| library read hit (decoded) / bare handler on read+write | {ratio('library_read', 'bare_read'):.2f} | "
            f"{median('library_read'):.2f} / {median('bare_read'):.2f} µs |",
            f"| mprotect + single step / library write hit | {ratio('mprotect', 'library_write'):.2f} | "
            f"{median('mprotect'):.2f} µs; the page is open to all threads meanwhile |"]
    if gdb:
        text.append(f"| gdb hardware watchpoint with empty commands / library write hit | "
                    f"{gdb / 1000 / median('library_write'):.0f} | {gdb / 1000:.0f} µs |")
    text += [f"| arming one chosen thread, 1000 threads / 1 | "
             f"{thousand['open_close_one'] / one['open_close_one']:.2f} | "
             f"{thousand['open_close_one'] / 1000:.1f} / {one['open_close_one'] / 1000:.1f} µs |",
             f"| move of a disabled inherited event, 1000 threads / 1 | {thousand['move'] / one['move']:.0f} | "
             f"{thousand['move'] / 1000:.0f} / {one['move'] / 1000:.1f} µs |",
             f"| disable + enable of an inherited event, 1000 threads / 1 | "
             f"{thousand['enable_disable'] / one['enable_disable']:.0f} | "
             f"{thousand['enable_disable'] / 1000:.0f} / {one['enable_disable'] / 1000:.1f} µs |",
             "", "![arming](benchmarks/arming.svg)", ""]
    (docs / "engine.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
