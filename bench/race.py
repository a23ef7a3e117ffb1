# SPDX-License-Identifier: Apache-2.0
"""Race detection: docs/benchmarks/race.md and its plots.

For the programs of tests/behave/race, time to the first finding and detection rate of trapline
race, of the same with --strategy stall-first, of ThreadSanitizer, Helgrind and DRD; for the real
programs of tests/real, what trapline race costs.

It works in pieces: every result is kept in BUILD/bench-race.json, and what is there is not run
again, so that an interrupted run goes on where it was. RACE_FRESH=1 begins anew; RACE_PIECE=SECONDS
stops after that time; RACE_TOOLS, RACE_PATTERNS and RACE_APPLICATIONS (names, or "none") choose.

Further: RACE_REPEAT (3), RACE_SECONDS (10), RACE_FREE_SECONDS (10), RACE_JOBS (1),
RACE_LOAD_SECONDS (30), RACE_PAIRS (3: bare and watched runs of each application, in turns),
RACE_NOTE (a sentence on the circumstances, for the page).
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Before this folder, which has a detectors.py of its own.
sys.path[:0] = [str(ROOT / "tests" / "behave" / "race"), str(ROOT / "tests" / "real")]
import applications  # noqa: E402
import detectors  # noqa: E402
import suite  # noqa: E402
from settings import setting  # noqa: E402
from plot import plot  # noqa: E402


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


class Results:
    """What was measured so far, by name of tool or application; a file that survives interruption."""

    def __init__(self, path):
        self.path = path
        self.runs, self.pairs = {}, {}
        self.began = time.monotonic()
        self.lock = threading.Lock()
        if path.exists() and not os.environ.get("RACE_FRESH"):
            known = json.loads(path.read_text(encoding="utf-8"))
            self.runs, self.pairs = known["runs"], known["pairs"]

    def save(self):
        fresh = self.path.with_suffix(".new")
        with self.lock:
            fresh.write_text(json.dumps({"runs": self.runs, "pairs": self.pairs}), encoding="utf-8")
            fresh.replace(self.path)

    def is_over(self):
        piece = setting("RACE_PIECE", 0.0)
        return piece and time.monotonic() - self.began > piece


def detect(tool, results):
    """Adds {"first": seconds or None, "false": how many, "racing": …} for each run still missing."""
    known = results.runs.setdefault(tool.name, {})
    seconds, free_seconds = setting("RACE_SECONDS", 10.0), setting("RACE_FREE_SECONDS", 10.0)

    def work(item):
        name, program, binary = item
        if results.is_over():
            return
        run = run_one(tool, program, seconds if program.racing else free_seconds, binary)
        # A finding that came after the time is none: the slow tools slow the program too.
        in_time = run.first is not None and run.first <= seconds
        known[name] = {"racing": program.racing, "source": program.source, "false": len(run.false),
                       "first": run.first if in_time else None}
        results.save()

    missing = []
    for program in suite.load(os.environ.get("RACE_PATTERNS", "").split()):
        if suite.compiler_missing(program):
            continue
        binary = suite.build(program, str(ROOT / "build-race"), tool.sanitizer)
        for repetition in range(setting("RACE_REPEAT", 3) if program.racing else 1):
            name = f"{program.source} {repetition}"
            if name not in known:
                missing.append((name, program, binary))
    with concurrent.futures.ThreadPoolExecutor(setting("RACE_JOBS", 1)) as pool:
        for _ in pool.map(work, missing):
            pass


def summary(runs):
    """(seconds to each first finding or None, race-free programs reported, race-free runs)."""
    racing = [run["first"] for run in runs.values() if run["racing"]]
    free = [run for run in runs.values() if not run["racing"]]
    return racing, {run["source"] for run in free if run["false"]}, len(free)


def detection_section(results):
    free = any(count for _, _, count in results.values())
    lines = ["| tool | racing runs found within the time | median seconds to the first finding |"
             + (" race-free programs reported |" if free else ""), "|---|---|---|" + ("---|" if free else "")]
    for name, (first, blamed, count) in results.items():
        found = sorted(value for value in first if value is not None)
        median = f"{statistics.median(found):.2f}" if found else "–"
        lines.append(f"| {name} | {len(found)} of {len(first)} | {median} |" + (f" {len(blamed)} of {count} |" if free else ""))
    blamed = [f"{name}: " + ", ".join(sorted(value[1])) for name, value in results.items()
              if 0 < len(value[1]) <= LISTED]
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


LISTED = 12  # of more programs the number says enough
NUMBERS = ("cpu", "work", "throughput", "p99", "resident")


def numbers(outcome):
    return {name: getattr(outcome, name) for name in NUMBERS}


def measure_pairs(application, command, results):
    known = results.pairs.setdefault(application.name, [])
    while len(known) < setting("RACE_PAIRS", 3) and not results.is_over():
        seconds = setting("RACE_LOAD_SECONDS", 30.0)
        bare = application.measured([], seconds)
        watched = application.measured([command, "race", "-q", "-o", os.devnull, "--"], seconds)
        known.append({"bare": numbers(bare), "watched": numbers(watched),
                      "same": bare.result == watched.result and bare.status == watched.status})
        results.save()


def cost_row(application, pairs):
    """Medians of the ratios of pairs taken in turns."""
    def ratio(value):
        known = [value(pair["watched"]) / value(pair["bare"]) for pair in pairs
                 if value(pair["bare"]) and value(pair["watched"])]
        if not known:
            return "–"
        return f"{statistics.median(known):.3f} ({min(known):.2f} to {max(known):.2f})"

    extra = statistics.median((pair["watched"]["resident"] - pair["bare"]["resident"]) / 1048576 for pair in pairs)
    same = all(pair["same"] for pair in pairs)
    return (f"| {application.name} {application.version()} | {len(pairs)} | "
            f"{ratio(lambda o: o['cpu'] / o['work'] if o['work'] else 0)} | "
            f"{ratio(lambda o: o['throughput'])} | {ratio(lambda o: o['p99'])} | "
            f"{extra:+.1f} MiB | {'same' if same else 'differs'} |")


def cost_plot(path, results):
    """CPU time over bare of each pair, application by application."""
    series = {}
    for name, pairs in results.pairs.items():
        points = [(i + 1, (pair["watched"]["cpu"] / pair["watched"]["work"]) / (pair["bare"]["cpu"] / pair["bare"]["work"]))
                  for i, pair in enumerate(pairs) if pair["watched"]["work"] and pair["bare"]["work"]]
        if points:
            series[name] = points
    if has_series(results):
        plot(path, "CPU time over bare", "pair", "ratio", series)


def has_series(results):
    """One pair is no line."""
    return any(len(pairs) > 1 for pairs in results.pairs.values())


def cost_section(build, results):
    wanted = os.environ.get("RACE_APPLICATIONS", "").split()
    rows = []
    for application in applications.ALL:
        if (not wanted or application.name in wanted) and not application.missing():
            measure_pairs(application, str(build / "trapline"), results)
        if results.pairs.get(application.name):
            rows.append(cost_row(application, results.pairs[application.name]))
            print(rows[-1], flush=True)
    if not rows:
        return []
    return ["", "What `trapline race` at default options costs real programs, as ratios over bare, medians (and "
            "extremes) of pairs taken in turns: CPU time for the same work, controller included; largest resident "
            "memory, as proportional set size of all processes with the controller:", "",
            "| program | pairs | CPU time | throughput | p99 latency | resident memory | workload's result |",
            "|---|---|---|---|---|---|---|", *rows] + (["", "![CPU time over bare](benchmarks/race-cost.svg)"]
                                                     if has_series(results) else [])


def times(count):
    return "once" if count == 1 else f"{count} times"


def main(build, docs):
    results = Results(build / "bench-race.json")
    for tool in tools(build):
        detect(tool, results)
    detected = {name: summary(runs) for name, runs in results.runs.items() if runs}
    for name, (first, blamed, count) in detected.items():
        print(f"{name}: {sum(value is not None for value in first)} of {len(first)} runs, "
              f"{len(blamed)} of {count} race-free programs reported", flush=True)
    costs = cost_section(build, results)
    detection_plot(docs / "race.svg", detected)
    cost_plot(docs / "race-cost.svg", results)
    text = ["## Finding races", "",
            f"Reproduce: `make bench BENCHES=race`. Programs of `tests/behave/race`, each racing one "
            f"{times(setting('RACE_REPEAT', 3))} for at most {setting('RACE_SECONDS', 10.0):g} s, each race-free one once "
            f"for {setting('RACE_FREE_SECONDS', 10.0):g} s, {setting('RACE_JOBS', 1)} at a time. Trapline watches builds "
            "made without it in mind; ThreadSanitizer recompiles them. `stall-first` is google/gwpsan's way: a stall "
            "before the access at a timer's interrupt, one watchpoint, 100 µs, with our unwinding and judging. DRD names "
            "one of two accesses, which is taken for right if its line is.", *filter(None, [os.environ.get("RACE_NOTE")]), ""]
    text += detection_section(detected)
    text += ["", "![Racing runs found by time](benchmarks/race.svg)"]
    text += costs
    (docs / "race.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
