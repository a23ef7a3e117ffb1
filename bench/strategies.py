#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each heuristic of race detection is worth: docs/benchmarks/strategies.md.

Generated programs (tests/behave/race/generate), each run once for 10 s at most with everything, without one
heuristic each, and with the core alone: sampled addresses, code in use, widening.

STRATEGIES_SEEDS (as for judge --seeds; otherwise drawn from the commit), STRATEGIES_COUNT (40),
STRATEGIES_NAMES (which to leave out, of --without; "none"), STRATEGIES_SECONDS (10), STRATEGIES_JOBS (1:
with more they take the CPUs from each other), STRATEGIES_NOTE (a sentence on the circumstances)."""
import argparse
import concurrent.futures
import copy
import datetime
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RACE = ROOT / "tests" / "behave" / "race"
sys.path.insert(0, str(RACE))
NAMES = ("sample", "code", "contended", "probe", "region-start", "background-thread", "argument",
         "coincidence", "widening", "long-holds", "reserve", "cooldown", "foresight", "team", "birth")
CORE = ("sample", "code", "widening")


def setting(name, default):
    return type(default)(os.environ.get(f"STRATEGIES_{name}", default))


def load_judge():
    loader = importlib.machinery.SourceFileLoader("judge", str(RACE / "judge"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("judge", loader))
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = written
    return module


def without(names):
    return [word for name in names for word in ("--without", name)]


def configurations():
    chosen = setting("NAMES", " ".join(NAMES)).split()
    table = {"all": []}
    table.update({f"all but {name}": without([name]) for name in chosen if name != "none"})
    table["the core alone"] = without([name for name in NAMES if name not in CORE])
    return table


def measure(judge, build):
    """{configuration: [judged]}; every program meets all configurations before the next one's turn."""
    options = argparse.Namespace(seeds=setting("SEEDS", ""), commit="HEAD", count=setting("COUNT", 40),
                                 bare=False, tsan=False, whole=False, jobs=setting("JOBS", 1),
                                 trapline=str(build / "trapline"), option=[])
    generator, folder = judge.load_generator(), str(build / "bench-strategies")
    programs = [judge.Judged(seed, False, folder, generator).build(False)
                for seed in judge.seeds_of(options)]
    results = {name: [] for name in configurations()}

    def run(program):
        for name, words in configurations().items():
            mine = copy.copy(options)
            mine.option = words
            results[name].append(judge.Runner(mine).run(copy.copy(program), setting("SECONDS", 10.0)))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run, programs))
    return results


def row(judge, name, results):
    found = [judged.first for judged in results if judged.verdict() == "found"]
    low, high = judge.interval(len(found), len(results))
    median = f"{sorted(found)[len(found) // 2]:.2f} s" if found else "—"
    return (f"| {name} | {len(found)} of {len(results)} | {100 * low:.0f} to {100 * high:.0f} % | {median} |")


def found_by(results):
    counts = {}
    for judged in results:
        if judged.verdict() == "found":
            counts[judged.strategy or "?"] = counts.get(judged.strategy or "?", 0) + 1
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda c: -c[1]))


def by_hand(page):
    """What stands below the table, from the first heading of its own on: kept."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    start = text.find("\n### ")
    return text[start:] if start >= 0 else ""


def main():
    build, sections = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    judge = load_judge()
    results = measure(judge, build)
    lines = ["## Strategies of race detection", "",
             f"Generated racing programs, one run of {setting('SECONDS', 10.0):.0f} s at most each, no second "
             f"try, default options; 95 % Wilson intervals. Measured "
             f"{datetime.date.today().isoformat()} by `make bench BENCHES=strategies`. "
             f"{setting('NOTE', '')}", "",
             "| with | found | interval | median time of those found |", "|---|---|---|---|"]
    lines += [row(judge, name, runs) for name, runs in results.items()]
    lines += ["", f"With all, they were found by: {found_by(results['all'])}."]
    page = sections / "strategies.md"
    page.write_text("\n".join(lines) + "\n" + by_hand(page), encoding="utf-8")
    (build / "bench-strategies.json").write_text(
        json.dumps({name: [judged.record() for judged in runs] for name, runs in results.items()},
                   indent=1), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
