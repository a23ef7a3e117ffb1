# SPDX-License-Identifier: Apache-2.0
"""Finding heap errors: docs/benchmarks/heap.md.

How often errors in a chosen block are found, by `trapline heap --all` and by LLVM's GWP-ASan at rate
1 (Debian's libclang-rt-14-dev, preloaded); errors in one allocation of 100,000, and in a program that
runs for long, both at default options; what allocation costs. What it costs real programs: bench/cost.py.

HEAP_RUNS (20), HEAP_RARE_RUNS (20), HEAP_LOOPS (5), HEAP_LOOP_SECONDS (60) and HEAP_PAIRS (3) say how much;
HEAP_PARTS (of: chosen rare loop churn) what; HEAP_NOTE is a sentence on the circumstances, for the page.
Sections that are not measured anew are those of the last time (BUILD/bench-heap.json)."""
import glob
import json
import os
import pathlib
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from settings import setting

KINDS = {"past": "heap-buffer-overflow", "before": "heap-buffer-overflow", "after": "heap-use-after-free"}
CHOSEN = [("past", size) for size in (13, 16, 17, 24, 32, 100, 4096, 8192)] + \
         [("before", size) for size in (16, 100, 4096)] + \
         [("after", size) for size in (64, 8192, 65536, 1 << 20, 16 << 20)]
TITLES = {"past": "one byte written past", "before": "one byte written before",
          "after": "read after free, 1,000 blocks alive"}


def gwp_asan():
    """LLVM's allocator with GWP-ASan, or None."""
    found = sorted(glob.glob("/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.scudo_standalone-x86_64.so"))
    return found[-1] if found else None


def gwp_environment(rate):
    options = f"GWP_ASAN_SampleRate={rate}" if rate else ""
    return {"LD_PRELOAD": gwp_asan(), "SCUDO_OPTIONS": options}


def died_of_gwp(line, rate):
    """Did GWP-ASan report? It ends the program by its signal."""
    result = subprocess.run(line, env=dict(os.environ, **gwp_environment(rate)), stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    return b"GWP-ASan detected" in result.stderr


def findings(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return [json.loads(line) for line in stream.read().split("\n")[:-1]]
    except (FileNotFoundError, ValueError):
        return []


def is_right(finding, kind):
    """Of the kind, with the place where the block came from and, but where the pattern alone was seen, the
    place that is wrong."""
    functions = {name: [frame.get("function") for frame in stack or [] if isinstance(frame, dict)] for name, stack in (
        ("access", (finding.get("accesses") or [{}])[0].get("stack")),
        ("allocated", (finding.get("object") or {}).get("stack")))}
    return finding.get("kind") == kind and "allocate_wrong" in functions["allocated"] and \
        bool({"write_out", "read_freed", "free_wrong"} & set(functions["access"]))


def is_culprit(finding, kind):
    access = (finding.get("accesses") or [{}])[0].get("stack") or []
    return is_right(finding, kind) and any(isinstance(frame, dict) and frame.get("function") in ("write_out", "read_freed")
                                           for frame in access)


def watched(build, line, *options):
    """The findings of one run."""
    with tempfile.TemporaryDirectory(prefix="bench-heap-") as folder:
        report = os.path.join(folder, "findings")
        subprocess.run([str(build / "trapline"), "heap", "-q", "-o", report, *options, "--", *line],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return findings(report)


def chosen(build):
    runs, rows = setting("HEAP_RUNS", 20), []
    for what, size in CHOSEN:
        line = [str(build / "bench" / "heap"), what, str(size)]
        ours = named = theirs = 0
        for _ in range(runs):
            found = watched(build, line, "--all")
            ours += any(finding.get("kind") == KINDS[what] for finding in found)
            named += any(is_culprit(finding, KINDS[what]) for finding in found)
            theirs += bool(gwp_asan()) and died_of_gwp(line, 1)
        rows.append([TITLES[what], size, ours, named, theirs if gwp_asan() else None, runs])
        print(rows[-1], flush=True)
    return rows


def can_remember(build):
    told = subprocess.run([str(build / "trapline"), "heap", "--help"], capture_output=True, text=True, check=False)
    return "--remember" in told.stdout + told.stderr


def rare(build):
    """[kind, runs, found in the first, culprit named in the first, in the second, GWP-ASan]"""
    rows = []
    for kind in ("past", "after"):
        line = [str(build / "bench" / "heap"), "rare", kind]
        runs, first, culprit, second, theirs = setting("HEAP_RARE_RUNS", 20), 0, 0, 0, 0
        for _ in range(runs):
            with tempfile.TemporaryDirectory(prefix="bench-heap-") as folder:
                memory = os.path.join(folder, "memory")
                remember = ["--remember", memory] if can_remember(build) else []
                found = watched(build, line, *remember)
                first += any(finding.get("kind") == KINDS[kind] for finding in found)
                culprit += any(is_culprit(finding, KINDS[kind]) for finding in found)
                if found and remember:
                    second += any(is_culprit(finding, KINDS[kind]) for finding in watched(build, line, *remember))
            theirs += bool(gwp_asan()) and died_of_gwp(line, 5000)
        rows.append([kind, runs, first, culprit, second, theirs])
        print(rows[-1], flush=True)
    return rows


def time_to_first(line, environment, path, limit, reported):
    """Seconds from the start to the first report; None when there was none in time."""
    begin = time.monotonic()
    with subprocess.Popen(line, env=dict(os.environ, **environment), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE if path is None else subprocess.DEVNULL) as process:
        while time.monotonic() - begin < limit:
            if (path and reported(findings(path))) or process.poll() is not None:
                break
            time.sleep(0.02)
        elapsed = time.monotonic() - begin
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        errors = process.stderr.read() if path is None else b""
        process.wait()
    if path is None:
        return elapsed if b"GWP-ASan detected" in errors else None
    return elapsed if reported(findings(path)) else None


def loop(build):
    """[kind, seconds of ours, seconds of GWP-ASan's, limit]"""
    rows, limit = [], setting("HEAP_LOOP_SECONDS", 60.0)
    for kind in ("past", "after"):
        program = [str(build / "bench" / "heap"), "loop", kind, str(limit)]
        ours, theirs = [], []
        for _ in range(setting("HEAP_LOOPS", 5)):
            with tempfile.TemporaryDirectory(prefix="bench-heap-") as folder:
                report = os.path.join(folder, "findings")
                line = [str(build / "trapline"), "heap", "-q", "-o", report, "--", *program]
                ours.append(time_to_first(line, {}, report, limit, lambda found, kind=kind: any(
                    is_culprit(finding, KINDS[kind]) for finding in found)))
            if gwp_asan():
                theirs.append(time_to_first(program, gwp_environment(5000), None, limit, None))
        rows.append([kind, ours, theirs, limit])
        print(rows[-1], flush=True)
    return rows


def cpu_seconds(line, environment=None):
    """CPU time of the line and all it started, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(line, env=dict(os.environ, **(environment or {})), stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result.stdout


def churn(build):
    """{threads: {way: [CPU seconds of the pair over bare's]}}"""
    rows = {}
    for threads, pairs in ((1, 100000000), (8, 100000000)):
        program = [str(build / "bench" / "heap"), "churn", str(threads)]
        ways = {"trapline heap": ([str(build / "trapline"), "heap", "-q", "-o", os.devnull, "--"], {}, pairs)}
        if gwp_asan():
            ways["Scudo with GWP-ASan off"] = ([], dict(gwp_environment(5000), SCUDO_OPTIONS="GWP_ASAN_Enabled=0"), pairs)
            ways["Scudo with GWP-ASan at 1 in 5,000"] = ([], gwp_environment(5000), pairs)
        if shutil.which("valgrind"):
            ways["Valgrind's memcheck"] = (["valgrind", "-q"], {}, pairs // 100)
        rows[threads] = {name: [] for name in ways}
        for _ in range(setting("HEAP_PAIRS", 3)):
            bare, _ = cpu_seconds([*program, str(pairs)])
            for name, (wrap, environment, count) in ways.items():
                cost, _ = cpu_seconds([*wrap, *program, str(count)], environment)
                rows[threads][name].append(cost / bare * pairs / count)
        print(threads, rows[threads], flush=True)
    return rows


def median_of(values, form="{:.3f} ({:.2f} to {:.2f})"):
    return form.format(statistics.median(values), min(values), max(values)) if values else "–"


def seconds_of(values, limit):
    """Median, with what was not found counted as later than the limit."""
    if not values:
        return "–"
    median = statistics.median(value if value is not None else float("inf") for value in values)
    found = sum(value is not None for value in values)
    return f"{f'{median:.2f} s' if median < limit else f'more than {limit:.0f} s'} ({found} of {len(values)} found)"


def of(count, runs):
    return "–" if count is None else f"{count} of {runs}"


def text_of(known):
    text = ["## Finding heap errors", "", "Reproduce: `make bench BENCHES=heap` (bench/heap.py says how much and in which parts). "
            "GWP-ASan is LLVM's, in Debian's `libclang_rt.scudo_standalone-x86_64.so`, by preload, and ends the program "
            "at its first report."]
    text += [os.environ["HEAP_NOTE"]] if "HEAP_NOTE" in os.environ else [known["note"]] if "note" in known else []
    if "chosen" in known:
        text += ["", "Errors in a chosen block: `trapline heap --all`, and GWP-ASan at rate 1. `culprit`: the finding names "
                 "the access itself, not the broken pattern alone.", "",
                 "| error | block | trapline | of these with the culprit | GWP-ASan |", "|---|---|---|---|---|"]
        text += [f"| {title} | {size} | {of(ours, runs)} | {named} | {of(theirs, runs)} |"
                 for title, size, ours, named, theirs, runs in known["chosen"]]
    if "rare" in known:
        text += ["", "One wrong allocation of 100,000, one try a run, default options. The second run has the first one's "
                 "`--remember` file; GWP-ASan at its default of 1 in 5,000.", "",
                 "| error | found | with the culprit | culprit named in the run after a finding | GWP-ASan |", "|---|---|---|---|---|"]
        text += [f"| {'write past' if kind == 'past' else 'read after free'} | {of(first, runs)} | {of(culprit, runs)} | "
                 f"{of(second, first)} | {of(theirs, runs)} |" for kind, runs, first, culprit, second, theirs in known["rare"]]
    if "loop" in known:
        text += ["", "A program that runs on, 1,000 allocations a turn and 100 turns a second, one of each thousand wrong: "
                 "median seconds to the culprit at default options.", "", "| error | trapline | GWP-ASan |", "|---|---|---|"]
        text += [f"| {'write past' if kind == 'past' else 'read after free'} | {seconds_of(ours, limit)} | "
                 f"{seconds_of(theirs, limit)} |" for kind, ours, theirs, limit in known["loop"]]
    if "churn" in known:
        text += ["", "CPU time of malloc and free pairs and nothing else, over bare (glibc's allocator), median and extremes "
                 "of pairs taken in turns; start-up, end and Trapline's controller included:", "",
                 "| | 1 thread | 8 threads |", "|---|---|---|"]
        one, eight = known["churn"]["1"], known["churn"]["8"]
        text += [f"| {name} | {median_of(one[name])} | {median_of(eight[name])} |" for name in one]
    return "\n".join(text) + "\n"


PARTS = {"chosen": chosen, "rare": rare, "loop": loop, "churn": churn}


def main(build, docs):
    path = build / "bench-heap.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if "HEAP_NOTE" in os.environ:
        known["note"] = os.environ["HEAP_NOTE"]
    for part in os.environ.get("HEAP_PARTS", " ".join(PARTS)).split():
        known[part] = json.loads(json.dumps(PARTS[part](build)))
        path.write_text(json.dumps(known), encoding="utf-8")
    (docs / "heap.md").write_text(text_of(known), encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
