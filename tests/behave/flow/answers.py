# SPDX-License-Identifier: Apache-2.0
"""What the tests of `trapline flow` have in common: running it, and reading what it found."""
import json
import os
import re
import statistics
import subprocess
import tempfile

SKIP = 77
CASES = ["half-dead", "all-silent", "loads-twice", "clean", "uneven", "clears-all", "counts",
         "sorts", "multiplies", "hashes"]
SHARES = ["dead-stores", "silent-stores", "redundant-loads"]


def machine_works(trapline):
    return subprocess.run([trapline, "doctor", "--json"], capture_output=True,
                          check=False).returncode == 0


def must_skip(trapline):
    return not machine_works(trapline) and os.environ.get("TRAPLINE_REQUIRE_HARDWARE") != "1"


def ask(trapline, question, program, options=("--aggressive",)):
    """The findings, and what was said on standard error."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "findings.jsonl")
        result = subprocess.run([trapline, "flow", *question, *options, "-o", path, "--", *program],
                                capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                timeout=120, check=False)
        # A run in which nothing was watched finds nothing, which must not pass for an answer.
        assert result.returncode == 0 and "nothing was watched" not in result.stderr, result.stderr
        with open(path, encoding="utf-8") as lines:
            findings = [json.loads(line) for line in lines]
    return [finding for finding in findings if "kind" in finding], result.stderr


def shares_of(findings):
    """Percent by kind, of the totals of `waste`."""
    found = {finding["kind"]: float(finding["percent"]) for finding in findings
             if finding["kind"] in SHARES}
    assert set(found) == set(SHARES), f"totals are missing: {found}"
    return found


def exhaustive(counted, case):
    result = subprocess.run([counted, case, "0.2"], capture_output=True, text=True, timeout=120,
                            check=True)
    return json.loads(re.search(r"\{.*\}", result.stderr).group(0))


def waste_errors(trapline, program, counted, cases, seconds="3"):
    """Points between what was sampled and what was counted, and what was counted, of each share."""
    errors = {}
    for case in cases:
        findings, _ = ask(trapline, ["waste"], [program, case, seconds])
        sampled, true = shares_of(findings), exhaustive(counted, case)
        for kind in SHARES:
            errors[case, kind] = abs(sampled[kind] - true[kind]), true[kind]
    return errors


def median(errors):
    """Of the shares that are not next to nothing, which are too easy to be right about."""
    return statistics.median(error for error, true in errors.values() if true > 1)


def sharing(trapline, program, actors, kind, distance, seconds="2"):
    """What `share` said of the counters: the kinds found of lines that are written a lot."""
    findings, said = ask(trapline, ["share"], [program, actors, kind, str(distance), seconds])
    return [finding["kind"] for finding in findings
            if finding["kind"].endswith("-sharing") and float(finding["percent"]) > 5], said
