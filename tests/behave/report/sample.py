# SPDX-License-Identifier: Apache-2.0
"""Made-up findings for the tests of `trapline report`, and running it."""
import json
import os
import subprocess
import sys

TRAPLINE = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))


def report(*arguments, **options):
    options = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "timeout": 120,
               "check": False, **options}
    return subprocess.run([TRAPLINE, "report", *map(str, arguments)], **options)


def frame(number, function, file, line):
    return {"pc": hex(0x400000 + number), "module": "/usr/bin/server", "build_id": "ab12",
            "offset": hex(number), "function": function, "function_line": 10, "file": file,
            "line": line, "inlined": False}


def access(number, side, operation):
    return {"tid": 100 + number % 7 + side, "thread": f"worker-{number % 7}", "op": operation,
            "size": 8, "address": hex(0x7F0000000000 + number * 8), "atomic": False,
            "kernel": False, "before": "0x1", "after": "0x2",
            "stack": [frame(number, f"{operation}_{number}", os.path.join(ROOT, "src/store/set.c"),
                            20 + number % 300)] +
                     [frame(4096 * (i + 1), f"caller_{i}", "/src/main.c", i + 1) for i in range(4)]}


def finding(number, **changes):
    """The same number makes the same id."""
    return {"v": 1, "kind": "data-race", "class": ["definite", "likely", "possible"][number % 3],
            "evidence": ["one access is a memcpy"], "pid": 7, "program": "/usr/bin/server",
            "build_id": "b001", "host": "web-1", "run": "run-1",
            "time": f"2026-11-{1 + number % 20:02d}T03:00:00.5Z",
            "object": {"kind": "global", "name": f"variable_{number}", "offset": 0, "size": 64},
            "accesses": [access(number, 0, "write"), access(number, 1, "read")],
            "count": 1, **changes}


def write(path, findings):
    with open(path, "w", encoding="utf-8") as file:
        for one in findings:
            file.write(json.dumps(one) + "\n")
    return path


def parse(result):
    return [json.loads(line) for line in result.stdout.splitlines()]
