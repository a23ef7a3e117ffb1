# SPDX-License-Identifier: Apache-2.0
"""What is told of a block when the process has ended before anybody could look at it.
usage: gone.py TRAPLINE PROGRAM"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

END = 30  # seconds for the program to give up waiting for a command that is stopped


def has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def run():
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as report:
        with subprocess.Popen([sys.argv[1], "heap", "--all", "-q", "-o", report.name, "--", sys.argv[2]],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as command:
            pid = int(command.stdout.readline())
            command.send_signal(signal.SIGSTOP)
            command.stdin.write(b"\n")
            command.stdin.flush()
            until = time.monotonic() + END
            while not has_ended(pid) and time.monotonic() < until:
                time.sleep(0.1)
            ended = has_ended(pid)
            command.send_signal(signal.SIGCONT)
            command.wait(timeout=60)
        findings = [json.loads(line) for line in report.read().decode().splitlines()]
    return ended, [finding for finding in findings if finding["kind"] == "double-free"]


def functions(stack):
    return [frame.get("function") for frame in stack or []]


def works():
    return subprocess.run([sys.argv[1], "doctor"], stdout=subprocess.DEVNULL, check=False).returncode == 0


def main():
    if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") != "1" and not works():
        print("watchpoints do not fire here")
        return 77
    ended, found = run()
    block = found[0].get("object") or {} if found else {}
    if not ended:
        print("the program did not end")
    elif len(found) != 1 or block.get("size") != 48 or "48 bytes" not in found[0]["message"]:
        print(f"not one block of 48 bytes that was freed twice: {found}")
    elif "free_again" not in functions(found[0]["accesses"][0].get("stack")):
        print(f"who freed it again is not told: {found}")
    elif "allocate_block" not in functions(block.get("stack")):
        print(f"who allocated it is not told: {found}")
    elif "free_block" not in functions((block.get("freed") or {}).get("stack")):
        print(f"who freed it first is not told: {found}")
    else:
        print("as it should be")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
