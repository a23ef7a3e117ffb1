# SPDX-License-Identifier: Apache-2.0
"""What the detectors cost real programs at default options: docs/benchmarks/cost.md.

Each round runs a program bare and under each detector, in turns; CPU time for the same work, the controller's and
what a start costs included, over that of the round's bare run.

COST_PAIRS (3) rounds of COST_LOAD_SECONDS (20); COST_APPLICATIONS (names) and COST_TOOLS (of: race heap stack uninit
flow together) choose; COST_NOTE is a sentence on the circumstances, for the page."""
import os
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "real")]
import applications  # noqa: E402
from settings import setting  # noqa: E402

TOOLS = {
    "race": ["race"], "heap": ["heap"], "stack": ["stack"], "uninit": ["uninit"], "flow": ["flow", "map"],
    "together": ["run", "--tool", "race,heap,stack,uninit"],
}


class Compiler(applications.Batch):
    """GCC compiles generated C: as much allocation as a compiler makes."""

    name, package, needs = "gcc", "gcc-12", ("gcc",)

    def command(self, _given):
        source = os.path.join(tempfile.gettempdir(), "bench-heap-source.c")
        with open(source, "w", encoding="ascii") as stream:
            for i in range(4000):
                stream.write(f"int f{i}(int *p, int n)\n{{\n\tint s = {i};\n\tfor (int i = 0; i < n; i++)\n"
                             f"\t\ts += p[i] * {i % 97} ^ (s >> {i % 7});\n\treturn s;\n}}\n")
        return ["gcc", "-O2", "-S", "-o", "-", source]


def line_of(build, tool):
    return [str(build / "trapline"), *TOOLS[tool], "-q", "-o", os.devnull, "--"]


def rounds(application, build, tools):
    """{tool: [[CPU time over bare, MiB more, whether the result is the same] of each round]}"""
    seconds, rows = setting("COST_LOAD_SECONDS", 20.0), {tool: [] for tool in tools}
    for _ in range(setting("COST_PAIRS", 3)):
        bare = application.measured([], seconds)
        for tool in tools:
            ours = application.measured(line_of(build, tool), seconds)
            same = (bare.result, bare.status) == (ours.result, ours.status)
            cost = ours.cpu / ours.work / (bare.cpu / bare.work) if bare.work and ours.work else None
            rows[tool].append([cost, (ours.resident - bare.resident) / 1048576, same])
            print(application.name, tool, rows[tool][-1], flush=True)
    return rows


def cell(outcomes):
    costs = [cost for cost, _, _ in outcomes if cost]
    if not costs:
        return "–"
    return f"{statistics.median(costs):.3f} ({min(costs):.2f} to {max(costs):.2f})" + \
        ("" if all(same for _, _, same in outcomes) else ", result differs")


def text_of(measured, tools):
    text = ["## What the detectors cost", "",
            f"Reproduce: `make bench BENCHES=cost`. CPU time for the same work over bare, default options, median and extremes of "
            f"{setting('COST_PAIRS', 3)} rounds of {setting('COST_LOAD_SECONDS', 20.0):g} s in each of which a program runs bare and "
            "under each detector, in turns; the controller, and what a start costs, are included.",
            *filter(None, [os.environ.get("COST_NOTE")]), "",
            "| program | " + " | ".join(tools) + " | most memory more |", "|---" * (len(tools) + 2) + "|"]
    for program, rows in measured.items():
        more = max(megabytes for outcomes in rows.values() for _, megabytes, _ in outcomes)
        text.append(f"| {program} | " + " | ".join(cell(rows[tool]) for tool in tools) + f" | {more:+.0f} MiB |")
    return "\n".join(text) + "\n"


def main(build, docs):
    wanted = os.environ.get("COST_APPLICATIONS", "memcached redis nginx postgres xz python3 gcc").split()
    tools = os.environ.get("COST_TOOLS", " ".join(TOOLS)).split()
    measured = {}
    for application in [*applications.ALL, Compiler()]:
        if application.name in wanted and not application.missing():
            measured[f"{application.name} {application.version()}"] = rounds(application, build, tools)
    (docs / "cost.md").write_text(text_of(measured, tools), encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
