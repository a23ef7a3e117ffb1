# SPDX-License-Identifier: Apache-2.0
"""What the detectors find, all in one run: docs/benchmarks/detectors.md, and the table of README.md.

Every suite of programs with one error each and of correct ones that look like it, each run once without a second
try, under Trapline and under those peers that are installed (valgrind, clang).

DETECTORS_SECONDS (10) for each racing program and each use of a dead frame, DETECTORS_JOBS (2) programs of the
races at once (the others one at a time), DETECTORS_PEERS=0 leaves the peers out, DETECTORS_ONLY a regular
expression for the rows, DETECTORS_QUICK=1 runs a few programs of each: to try this script, not for the page."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from settings import setting

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEHAVE = ROOT / "tests" / "behave"
BEGIN, END = "<!-- detectors -->", "<!-- /detectors -->"
VERDICT = re.compile(r"^(?:(?:from|to) .* )?(found|silent|explained|possible|missed|right|missing|status|[A-Z]{4,})\b")
SECONDS = setting("DETECTORS_SECONDS", 10)
JOBS = str(setting("DETECTORS_JOBS", 2))
QUICK = setting("DETECTORS_QUICK", 0) == 1
SEEDS = "1300-1303" if QUICK else "1300-1339"


def some(*words):
    """Of a suite's programs those few whose names have these words, where the script is only tried."""
    return list(words) if QUICK else []


def race(*words):
    return [BEHAVE / "race" / "run", "--jobs", JOBS, "--seconds", str(SECONDS), "--free-seconds", str(SECONDS / 2), *words]


def heap(*words):
    return [BEHAVE / "heap" / "run", *some("--quick"), *words]


def stack(*words):
    return [BEHAVE / "stack" / "run", "--seconds", str(SECONDS), *words]


def uninit(*words):
    return [BEHAVE / "uninit" / "run", "--verbose", *some("--quick"), *words]


def judge(*words):
    return [BEHAVE / "race" / "judge", "--seeds", SEEDS, "--jobs", JOBS, "--seconds", str(SECONDS), *words]


RACE_FEW, STACK_FEW = some("hot_counter", "memcpy_both", "/mutex", "c11_relaxed"), some("global_hot", "red_zone")
RACES = "data races, the programs of tests/behave/race"
# Asked of what; who; what it needs here; the commands for the errors and for the correct programs.
ROWS = [
    (RACES, "trapline race", "", race("--kind", "racing", "--stop", *RACE_FEW), race("--kind", "free", *RACE_FEW)),
    *((RACES, name, needed, race("--detector", tool, "--kind", "racing", "--stop", *RACE_FEW),
       race("--detector", tool, "--kind", "free", *RACE_FEW))
      for name, tool, needed in (("ThreadSanitizer", "tsan", "clang"), ("Helgrind", "helgrind", "valgrind"),
                                 ("DRD", "drd", "valgrind"))),
    (f"data races, generated programs, seeds {SEEDS}", "trapline race", "", judge(), judge("--free")),
    ("errors on the heap", "trapline heap --all", "", heap("--kind", "errors"), heap("--kind", "right")),
    ("errors on the heap", "AddressSanitizer", "gcc", heap("--asan", "--kind", "errors"), heap("--asan", "--kind", "right")),
    ("uses of stack frames that are gone", "trapline stack", "", stack("--kind", "use", *STACK_FEW),
     stack("--kind", "correct", *STACK_FEW)),
    ("uses of stack frames that are gone", "Memcheck", "valgrind", stack("--tool", "memcheck", "--kind", "use", *STACK_FEW),
     stack("--tool", "memcheck", "--kind", "correct", *STACK_FEW)),
    ("uses of stack frames that are gone", "AddressSanitizer", "gcc", stack("--tool", "asan", "--kind", "use", *STACK_FEW),
     stack("--tool", "asan", "--kind", "correct", *STACK_FEW)),
    ("live frames overwritten", "trapline stack --tool-option function=NAME", "", stack("--kind", "overwrite"), None),
    ("reads of heap memory that nobody wrote", "trapline uninit --all --budget 80", "", uninit(), "same"),
    ("reads of heap memory that nobody wrote", "Memcheck", "valgrind", uninit("--tool", "memcheck"), "same"),
    ("where a value comes from, and where it goes", "trapline flow", "", [BEHAVE / "flow" / "run", "BUILD", "from", "to"], "edges"),
]


class Suite:
    """What one command's programs came to."""

    def __init__(self, command, build, log):
        words = [str(build) if word == "BUILD" else str(word) for word in command]
        begun = time.monotonic()
        with open(log, "w", encoding="utf-8") as file:
            ended = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False)
        self.seconds = time.monotonic() - begun
        self.lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if VERDICT.match(line)]
        if not self.lines:
            raise RuntimeError(f"{' '.join(words)} ended with status {ended.returncode} and no verdict; see {log}")

    @staticmethod
    def verdict(line):
        return VERDICT.match(line).group(1)

    def found(self, lines):
        """A suite of races calls FALSE what has a false finding beside the expected one."""
        return sum(self.verdict(line) in ("found", "right") or self.verdict(line) == "FALSE" and
                   bool(re.search(r" [1-9]\d* expected", line)) for line in lines)

    def of(self, kind):
        """The lines of the errors or of the correct programs, where one command runs both."""
        return [line for line in self.lines if f" {kind}." in line]


def wilson(found, count):
    part, z = found / count, 1.96
    middle = (part + z * z / (2 * count)) / (1 + z * z / count)
    half = z * (part * (1 - part) / count + z * z / (4 * count * count)) ** 0.5 / (1 + z * z / count)
    return f"{100 * (middle - half):.0f} to {100 * (middle + half):.0f} %"


def measure(row, build, folder):
    """The row's cells: found, interval, told of correct programs, minutes."""
    what, who, _, wrong, right = row
    log = folder / re.sub(r"\W+", "-", f"{what} {who}")
    errors = Suite(wrong, build, log.with_suffix(".errors"))
    seconds, lines, told = errors.seconds, errors.lines, ""
    if right == "edges":
        told = f"{sum(' WRONG ' in line for line in lines)} wrong edges"
    elif right == "same":
        lines, correct = errors.of("errors"), errors.of("correct")
        told = f"{sum(errors.verdict(line) != 'silent' for line in correct)} of {len(correct)}"
    elif right:
        correct = Suite(right, build, log.with_suffix(".correct"))
        seconds += correct.seconds
        told = f"{sum(correct.verdict(line) != 'silent' for line in correct.lines)} of {len(correct.lines)}"
    found = errors.found(lines)
    return [what, who, f"{found} of {len(lines)}", wilson(found, len(lines)), told, f"{seconds / 60:.1f}"]


def wanted(row):
    peer = not row[1].startswith("trapline")
    return (re.search(os.environ.get("DETECTORS_ONLY", ""), f"{row[0]} {row[1]}") and
            not (peer and setting("DETECTORS_PEERS", 1) == 0) and (not row[2] or shutil.which(row[2])))


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *("| " + " | ".join(row) + " |" for row in rows)]


def write(docs, rows):
    text = ["## What the detectors find", "",
            "Reproduce: `make bench BENCHES=detectors`. All in one run, one after the other: programs with one error each, and correct "
            f"ones that look like it; each runs once, without a second try, a racing one and a use of a dead frame for {SECONDS} s at "
            f"most; races {JOBS} programs at a time, the others alone. 95 % intervals are Wilson's. `trapline race` was tuned on the programs of "
            "tests/behave/race, and not on the generated ones. A correct program counts as told of by any finding of class definite "
            "or likely, of a peer by any.", "",
            *table(["what", "with", "found", "95 % interval", "told of correct programs", "minutes"], rows), ""]
    (docs / "detectors.md").write_text("\n".join(text), encoding="utf-8")
    readme = ROOT / "README.md"
    before, begin, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if end:
        short = table(["what", "with", "found", "told of correct programs"], [[*row[:3], row[4]] for row in rows])
        readme.write_text(before + begin + "\n\n" + "\n".join(short) + "\n\n" + end + after, encoding="utf-8")


def main(build, docs):
    folder = build / "bench-detectors"
    folder.mkdir(exist_ok=True)
    rows = []
    for row in filter(wanted, ROWS):
        rows.append(measure(row, build, folder))
        print(" | ".join(rows[-1]), flush=True)
    print()
    print("\n".join(table(["what", "with", "found", "95 % interval", "told of correct programs", "minutes"], rows)))
    if QUICK or "DETECTORS_ONLY" in os.environ:
        print("not the whole: no page is changed")
        return
    write(docs, rows)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
