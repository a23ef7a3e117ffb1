# SPDX-License-Identifier: Apache-2.0
"""Questions about real programs put to trapline watch, gdb and perf: docs/benchmarks/watch.md."""
import os
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "real" / "watch"))
import questions  # noqa: E402  (the path comes first)

ROUNDS = 3
# So many connections, list elements, deposits: the difference gives the cost of one hit.
AMOUNTS = {"redis": (20, 1020), "python": (5, 505), "neighbour": (10, 3010)}
TOOLS = ("nobody", "trapline_lines", "trapline", "gdb", "perf")
HOW = {"trapline_lines": "trapline watch", "trapline": "trapline watch -o, with stacks as JSON", "gdb": "gdb, a hardware watchpoint with commands",
       "perf": "perf record -e mem:"}


def once(question, amount):
    """{tool: (seconds, hits)} of one round; a tool that cannot run is left out."""
    question.amount = amount
    question.prepare()
    found = {}
    for tool in TOOLS:
        try:
            answer = getattr(question, "ask_" + tool)()
        except questions.Unavailable as reason:
            print(f"watch: {question.name}: {tool}: {reason}", file=sys.stderr)
            continue
        found[tool] = (answer.seconds, sum(answer.functions.values()) if answer.functions else 0,
                       answer.functions)
    return found


def measure(kind, build, folder):
    """[(few, many)]: the rounds of one question."""
    few, many = AMOUNTS[kind.name]
    question = kind(str(build / "trapline"), folder, few)
    return [(once(question, few), once(question, many)) for _ in range(ROUNDS)]


def median(values):
    return statistics.median(values)


def hits(kind, few, many, tool):
    """The writes that happened between the two amounts: what the tool was stopped by."""
    counter = "perf" if kind.name == "neighbour" and "perf" in few else tool
    return many[counter][1] - few[counter][1]


def rows(kind, rounds):
    few, many = AMOUNTS[kind.name]
    bare = median([after["nobody"][0] for _, after in rounds])
    yield f"| {kind.title} | nothing | {bare:.2f} s | 1 | | |"
    for tool in TOOLS[1:]:
        taken = [(a, b) for a, b in rounds if tool in a and tool in b]
        if not taken:
            yield f"| | {HOW[tool]} | could not run | | | |"
            continue
        whole = median([b[tool][0] for _, b in taken])
        ratio = median([b[tool][0] / b["nobody"][0] for _, b in taken])
        each = median([(b[tool][0] - a[tool][0] - (b["nobody"][0] - a["nobody"][0])) /
                       max(1, hits(kind, a, b, tool)) for a, b in taken])
        top = ", ".join(f"{name} {count}" for name, count in
                        taken[0][1][tool][2].most_common(2))
        yield f"| | {HOW[tool]} | {whole:.2f} s | {ratio:.1f} | {each * 1e6:.0f} µs | {top} |"


def main(build, docs):
    os.environ["TRAPLINE_REAL_CACHE"] = str(build / "real")
    lines = ["## Questions about real programs: trapline watch, gdb, perf", "",
             f"Reproduce: `make bench BENCHES=watch`. Medians of {ROUNDS} rounds in which the tools took "
             "turns, each with the same program and the same work (tests/real/watch/questions.py). The time is "
             "of the whole command, reading symbols included; what one more hit costs is the difference between "
             "two amounts of work, the program's own time taken off. All three watch the same address by the "
             "processor's debug registers.", "",
             "| question | asked of | whole command | over the program alone | one more hit | answer |",
             "|---|---|---|---|---|---|"]
    for kind in questions.ALL:
        with tempfile.TemporaryDirectory(prefix="bench-watch-") as folder:
            try:
                lines += rows(kind, measure(kind, build, folder))
            except questions.Unavailable as reason:
                lines.append(f"| {kind.title} | not asked: {reason} | | | | |")
    lines += ["", "- A negative cost of one more hit is one that drowned in the noise of starting the tools.",
              "- gdb and trapline tell the value before and after and stop the thread at its access; perf notes the "
              "place alone and answers when the program has ended.",
              "- gdb leaves out writes that change nothing (redis's `resetServerStats()` stores 0 over 0).",
              "- Neither gdb nor perf can leave `deposit()` out of the third question; trapline decides it in the "
              "thread that wrote, and answers with the one line.",
              "- perf's addresses are those of a process without address space randomisation, found by gdb first: "
              "that time is not in the table.", ""]
    text = "\n".join(lines)
    (docs / "watch.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
