# SPDX-License-Identifier: Apache-2.0
"""What becomes of blocks on pages of their own where a program asks for limits, or locks its memory.
usage: limits.py TRAPLINE PROGRAM"""
import json
import re
import subprocess
import sys
import tempfile


def run(case):
    """The program's exit status, what was found, and the counts."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as report:
        done = subprocess.run([sys.argv[1], "heap", "--all", "--strategy", "page", "-q", "--stats=all", "-o", report.name,
                               "--", sys.argv[2], case], capture_output=True, text=True, timeout=100, check=False)
        found = [json.loads(line)["kind"] for line in report.read().decode().splitlines()]
    counts = {name: int(count) for count, name in re.findall(r"^ *(\d+)  (\S+)", done.stderr, re.M)}
    return done.returncode, [kind for kind in found if kind not in ("note", "modules")], counts


def wrongs_of(case):
    status, found, counts = run(case)
    if status == 77:
        return []
    unpaged, wrong = counts.get("guards-unpaged", 0), []
    if status:
        wrong.append(f"exit status {status}")
    if case == "lock" and (found or not counts.get("heap-pages-locked") or counts.get("heap-watches")):
        wrong.append(f"{found}, {counts.get('heap-pages-locked')} locked, {counts.get('heap-watches')} watched")
    if case == "refused" and (found != ["heap-buffer-overflow"] or unpaged):
        wrong.append(f"{found}, {unpaged} without pages")
    if case == "unlocked" and found != ["heap-use-after-free"]:
        wrong.append(f"{found}")
    if case == "limited" and not unpaged:
        wrong.append("blocks without pages are not counted")
    return [f"{case}: {text}" for text in wrong]


def main():
    wrong = [text for case in ("lock", "refused", "limited", "unlocked") for text in wrongs_of(case)]
    print("\n".join(wrong) or "as it should be")
    return 1 if wrong else 0


sys.exit(main())
