# SPDX-License-Identifier: Apache-2.0
"""Race detection: docs/benchmarks/race.md and its plot.

For the programs of tests/behave/race, time to the first finding and detection rate of trapline
race, of the same with --strategy stall-first, of ThreadSanitizer, Helgrind and DRD; for the real
programs of tests/real, what trapline race costs.

In the environment: RACE_REPEAT (3), RACE_SECONDS (10), RACE_FREE_SECONDS (10), RACE_JOBS (1),
RACE_PATTERNS (all programs), RACE_TOOLS, RACE_APPLICATIONS (names, or none), RACE_LOAD_SECONDS
(15), RACE_PAIRS (3: bare and watched runs of each application, in turns).
"""
import concurrent.futures
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "behave" / "race"), str(ROOT / "tests" / "real")]
import applications  # noqa: E402
import detectors  # noqa: E402
import suite  # noqa: E402
from plot import plot  # noqa: E402


def setting(name, default):
    return type(default)(os.environ.get(name, default))


def tools(build):
    command = str(build / "trapline")
    stall_first = detectors.Trapline(command, ["--strategy", "stall-first"])
    stall_first.name = "stall-first"
    every = [detectors.Trapline(command), stall_first, detectors.ThreadSanitizer(), detectors.Valgrind("helgrind"),
             detectors.Valgrind("drd")]
    wanted = os.environ.get("RACE_TOOLS", "").split()
    every = [tool for tool in every if not wanted or tool.name in wanted]
    return [tool for tool in every if not isinstance(tool, detectors.Valgrind) or shutil.which("valgrind")]


def run_one(tool, program, seconds, binary):
    with tempfile.TemporaryDirectory(prefix="bench-race-") as folder:
        run = detectors.Run(tool, program, binary, os.path.join(folder, "out"))
        return run.run(seconds, stop=program.racing, patience=60)


def detect(tool):
    """All runs of one tool: (seconds to each first finding or None, race-free programs reported)."""
    first, blamed, count = [], set(), 0
    seconds, free_seconds = setting("RACE_SECONDS", 10.0), setting("RACE_FREE_SECONDS", 10.0)
    work = []
    for program in suite.load(os.environ.get("RACE_PATTERNS", "").split()):
        if suite.compiler_missing(program):
            continue
        binary = suite.build(program, str(ROOT / "build-race"), tool.sanitizer)
        repeat = setting("RACE_REPEAT", 3) if program.racing else 1
        work += [(tool, program, seconds if program.racing else free_seconds, binary)] * repeat
    with concurrent.futures.ThreadPoolExecutor(setting("RACE_JOBS", 1)) as pool:
        for run in pool.map(lambda item: run_one(*item), work):
            if run.program.racing:
                # A finding that came after the time is none: the slow tools slow the program too.
                first.append(run.first if run.first is not None and run.first <= seconds else None)
            else:
                count += 1
                if run.false:
                    blamed.add(run.program.source)
    return first, blamed, count


def detection_section(results):
    lines = ["| tool | racing runs found within the time | median seconds to the first finding | "
             "race-free programs reported |", "|---|---|---|---|"]
    for name, (first, blamed, count) in results.items():
        found = sorted(value for value in first if value is not None)
        median = f"{statistics.median(found):.2f}" if found else "–"
        lines.append(f"| {name} | {len(found)} of {len(first)} | {median} | {len(blamed)} of {count} |")
    blamed = [f"{name}: " + ", ".join(sorted(value[1])) for name, value in results.items() if value[1]]
    return lines + ([""] + [f"Reported by {text}." for text in blamed] if blamed else [])


def detection_plot(path, results):
    """Share of racing runs found by each time."""
    series = {}
    for name, (first, _, _) in results.items():
        found = sorted(value for value in first if value is not None)
        points = [(max(value, 0.05), 100 * (i + 1) / len(first)) for i, value in enumerate(found)]
        if points:
            series[name] = points
    if series:
        plot(path, "Racing runs found by time", "seconds", "%", series, log_x=True)


def measure(application, wrap):
    folder = tempfile.mkdtemp(prefix="real-")
    os.chmod(folder, 0o755)
    try:
        return application.run(wrap, folder, setting("RACE_LOAD_SECONDS", 15.0))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def cost_row(application, command):
    """Medians of the ratios of pairs taken in turns."""
    pairs = []
    for _ in range(setting("RACE_PAIRS", 3)):
        pairs.append((measure(application, []), measure(application, [command, "race", "-o", os.devnull, "--"])))

    def ratio(value):
        known = [value(after) / value(before) for before, after in pairs if value(before) and value(after)]
        return f"{statistics.median(known):.3f}" if known else "–"

    extra = statistics.median((after.resident - before.resident) / 1048576 for before, after in pairs)
    same = all(before.result == after.result and before.status == after.status for before, after in pairs)
    return (f"| {application.name} {application.version()} | {ratio(lambda o: o.cpu / o.work if o.work else 0)} | "
            f"{ratio(lambda o: o.throughput)} | {ratio(lambda o: o.p99)} | {ratio(lambda o: o.resident)} "
            f"({extra:+.1f} MiB) | {'same' if same else 'differs'} |")


def cost_section(build):
    wanted = os.environ.get("RACE_APPLICATIONS", "").split()
    rows = []
    for application in applications.ALL:
        if (not wanted or application.name in wanted) and not application.missing():
            rows.append(cost_row(application, str(build / "trapline")))
            print(rows[-1], flush=True)
    if not rows:
        return []
    return ["", "What `trapline race` at default options costs real programs, as ratios over bare (CPU time for the "
            "same work, controller included; resident memory as proportional set size of all processes):", "",
            "| program | CPU time | throughput | p99 latency | resident memory | workload's result |",
            "|---|---|---|---|---|---|", *rows]


def main(build, docs):
    results = {}
    for tool in tools(build):
        results[tool.name] = detect(tool)
        found = sum(value is not None for value in results[tool.name][0])
        print(f"{tool.name}: {found} of {len(results[tool.name][0])} runs, "
              f"{len(results[tool.name][1])} race-free programs reported", flush=True)
    detection_plot(docs / "race.svg", results)
    text = ["## Finding races", "",
            f"Reproduce: `make bench BENCHES=race`. Programs of `tests/behave/race`, each racing one "
            f"{setting('RACE_REPEAT', 3)} times for at most {setting('RACE_SECONDS', 10.0):g} s, each race-free one once "
            f"for {setting('RACE_FREE_SECONDS', 10.0):g} s. Trapline watches builds made without it in mind; "
            "ThreadSanitizer recompiles them. `stall-first` is google/gwpsan's way: a stall before the access at a timer "
            "sample, one watchpoint, 100 µs. DRD names one of two accesses, which is taken for right if its line is.", ""]
    text += detection_section(results)
    text += ["", "![Racing runs found by time](benchmarks/race.svg)"]
    text += cost_section(build)
    (docs / "race.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
