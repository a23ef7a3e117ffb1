#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--aim: a known race is seen again in the same build and in the next one, whose lines and addresses
are others; its fix has chances and no meeting.

usage: aim.py TRAPLINE RACING MOVED FIXED MOVED_NAMELESS"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

# A race is met some times a second on a quiet machine: what takes so long is no chance.
SECONDS = 60
STATUS = 9
# What is aimed at is found by aiming alone.
ALONE = [word for name in ("sample", "code", "contended", "birth", "probe", "region-start", "coincidence",
                           "background-thread", "argument") for word in ("--without", name)]


def lines(path):
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream if line.endswith("\n")]


def findings(path):
    return [line for line in lines(path) if line.get("kind") == "data-race"
            and line["object"].get("name") == "served"]


def run(trapline, program, output, options, seconds, until):
    """Until it is seen, or so many seconds; what trapline says and its status."""
    command = [trapline, "race", "--show", "all", "--error-exitcode", str(STATUS), "-o", output,
               *options, "--", program]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True) as process:
        end = time.monotonic() + seconds
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.1)
            if until and os.path.exists(output) and findings(output):
                break
        process.send_signal(signal.SIGTERM)
        text = process.communicate(timeout=60)[1]
    return text, process.returncode


def aims(path):
    found = [line for line in lines(path) if line.get("type") == "aim"]
    assert len(found) == 1, found
    return found[0]


def check_again(trapline, program, known, output, found):
    text, status = run(trapline, program, output, ["--aim", known, *ALONE], SECONDS, True)
    aim = aims(output)
    assert status == STATUS and aim["seen"] >= 1, (program, status, text)
    assert "seen again" in text, text
    assert aim["meetings"] >= 1 and aim["chances"] >= aim["meetings"], aim
    assert [side["found"] for side in aim["sides"]] == [found] * 2, aim
    assert {finding.get("strategy") for finding in findings(output)} == {"aim"}, findings(output)


def check_fixed(trapline, program, known, directory):
    """Chances come with time; a meeting never does."""
    output = os.path.join(directory, "fixed")
    for seconds in (5, 15, 40):
        text, status = run(trapline, program, output, ["--aim", known], seconds, False)
        aim = aims(output)
        assert status != STATUS and not findings(output), text
        assert aim["seen"] == 0 and aim["meetings"] == 0, aim
        if aim["chances"]:
            break
    assert aim["chances"] and "0 meetings; before, 1 in" in text, (aim, text)


def check_report(trapline, output):
    """A report tells it as well, and passes it on."""
    text = subprocess.run([trapline, "report", output], capture_output=True, text=True, check=True)
    assert "aimed at 1 finding:" in text.stdout and "seen again" in text.stdout, text.stdout
    again = output + ".again"
    subprocess.run([trapline, "report", "--format", "jsonl", "-o", again, output], check=True)
    assert aims(again) == aims(output)


def main():
    trapline, racing, moved, fixed, nameless = sys.argv[1:]
    if subprocess.run([trapline, "doctor"], capture_output=True, check=False).returncode:
        print("skipped: `trapline doctor` says that it cannot work here")
        return 1 if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") == "1" else 77
    with tempfile.TemporaryDirectory() as directory:
        known, before = os.path.join(directory, "known"), os.path.join(directory, "before")
        run(trapline, racing, known, [], 2 * SECONDS, True)
        found = findings(known)
        assert found, "the race was not found at all"
        with open(known, "w", encoding="utf-8") as stream:
            json.dump(found[0], stream)
            stream.write("\n")
        check_again(trapline, racing, known, before, "build")
        check_report(trapline, before)
        check_again(trapline, moved, known, os.path.join(directory, "moved"), "line")
        check_again(trapline, nameless, known, os.path.join(directory, "nameless"), "function")
        check_fixed(trapline, fixed, before, directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
