# SPDX-License-Identifier: Apache-2.0
"""docs/FIELD.md: made of what tests/field/run has kept. What stands below its first `## ` is written by hand."""
import os
import statistics

from judgements import SURE, VERDICTS
from program import ROOT

PATH = os.path.join(ROOT, "docs", "FIELD.md")
HEAD = """# Programs of Debian in the field

Programs of Debian 12 as their packages build and start them (user, capabilities, background), under a load
that reaches their control paths too, bare and under `trapline race` at default options, in turns.
`tests/field/run [NAME…]` runs them again and makes this table; `tests/field/programs/` says what is asked
of each, and `tests/field/judged` what was said of each finding and why.

| column | means |
|---|---|
| same | the checked answers, the exit status and that it ended when told are as bare; what differs in two bare runs is left out |
| CPU | CPU time per operation, the program's and Trapline's, over that of the bare program: the middle of the rounds, least and most in brackets |
| rate | operations a second over those of the bare program; where the client gives the rate it says nothing of the cost |
| p99 | the 99th percentile of an operation's time over that of the bare program, where the client tells it |
| definite, likely | distinct findings of these classes in all rounds, of these judged true + meant + false; the rest is not judged |
| possible | distinct findings that are hidden by default |

**The machine was not quiet**: {cpus} virtual CPUs that others used at the same time, short rounds, clients on the same CPUs. The
ratios spread by tens of per cent for that alone; read them as "nothing went badly wrong", and
docs/BENCHMARKS.md for what watching costs.

| program | version | what ran | threads | rounds | same | CPU | rate | p99 | definite, likely | possible | load | when |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""
P99_CELL = 8    # of a line; lines from before there was one get an empty one


def ratios(rounds, value):
    """Middle, least and most of watched over bare, round by round."""
    found = [value(one["race"]) / value(one["bare"]) for one in rounds
             if value(one["race"]) and value(one["bare"])]
    if not found:
        return "–"
    middle = f"{statistics.median(found):.2f}"
    return middle if len(found) == 1 else f"{middle} ({min(found):.2f}–{max(found):.2f})"


def cpu_per_operation(run):
    return run["cpu"] / run["operations"] if run["operations"] else 0


def rate(run):
    return run["operations"] / run["seconds"] if run["seconds"] else 0


def p99(run):
    return run["p99"] or 0


def findings_cell(row, judgements):
    sure = [one for one in row["findings"] if one["class"] in SURE]
    verdicts = [judgements.of(one)[0] for one in sure]
    if not sure:
        return "none"
    counts = [verdicts.count(verdict) for verdict in VERDICTS]
    text = f"{len(sure)}: " + " + ".join(str(count) for count in counts)
    left = len(sure) - sum(counts)
    return text + (f", {left} not judged" if left else "")


def line_of(name, row, judgements):
    rounds = row["rounds"]
    possible = sum(one["class"] not in SURE for one in row["findings"])
    loads = [one["load"] for one in rounds]
    cells = [name, row["version"], row["operation"], max(one["race"]["threads"] for one in rounds), len(rounds),
             "yes" if not row["differences"] else f"no, {len(row['differences'])}", ratios(rounds, cpu_per_operation),
             ratios(rounds, rate), ratios(rounds, p99), findings_cell(row, judgements), possible, f"{min(loads):.1f}–{max(loads):.1f}",
             row["date"]]
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def lines_of(text):
    """The lines of the table, by program."""
    lines = {}
    for line in text.partition("| program | version |")[2].splitlines():
        cells = line.strip("|").split("|")
        if line.startswith("| ") and len(cells) > P99_CELL and "when" not in cells[-1]:
            if len(cells) == P99_CELL + 4:
                cells.insert(P99_CELL, " – ")
            lines[cells[0].strip()] = "|" + "|".join(cells) + "|\n"
    return lines


def write(results, judgements):
    """Programs that were not run here keep their lines."""
    text = ""
    if os.path.exists(PATH):
        with open(PATH, encoding="utf-8") as file:
            text = file.read()
    head, _, below = text.partition("\n## ")
    lines = lines_of(head)
    lines.update({name: line_of(name, row, judgements) for name, row in results.items()})
    with open(PATH, "w", encoding="utf-8") as file:
        file.write(HEAD.replace("{cpus}", str(os.cpu_count())))
        file.writelines(lines[name] for name in sorted(lines))
        for name in sorted(results):
            for line in results[name]["differences"]:
                file.write(f"\n`{name}`: {line[:160]}\n")
        if below:
            file.write("\n## " + below)
