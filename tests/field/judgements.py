# SPDX-License-Identifier: Apache-2.0
"""Findings of a run, and what somebody who read the source said of each: the file `judged`."""
import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
SURE = ("definite", "likely")
VERDICTS = ("true", "meant", "false")


class Judgements:
    """The lines of `judged`: the program, the finding's id, the verdict, and the reason."""

    def __init__(self, path=os.path.join(HERE, "judged")):
        self.of_id = {}
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                fields = line.split(None, 3)
                if len(fields) < 4 or fields[2] not in VERDICTS:
                    raise ValueError(f"{path}:{number}: PROGRAM ID true|meant|false REASON")
                self.of_id[fields[1]] = (fields[2], fields[3].strip())

    def of(self, finding):
        """(verdict, reason)"""
        return self.of_id.get(finding["id"], ("not judged", ""))


def read(path):
    """The findings of one run, one per id, those of class definite and likely first."""
    found = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                finding = json.loads(line)
                if finding.get("kind") == "data-race":
                    found[finding["id"]] = finding
    return sorted(found.values(), key=lambda one: (one["class"] not in SURE, one["class"], one["id"]))


def short(path):
    return os.path.basename(path or "?")


def place(access):
    """The innermost frame that is not of the C library: function, file and line as far as they are known."""
    stack = [one for one in access.get("stack", []) if isinstance(one, dict)] or [{}]
    frame = next((one for one in stack if not re.match(r"(libc|ld-linux.*)\.so", short(one.get("module")))), stack[0])
    where = f"{short(frame.get('module'))}+{frame.get('offset')}"
    if frame.get("file") and frame.get("line"):
        where = f"{short(frame['file'])}:{frame['line']}"
    return f"{frame.get('function') or '?'} ({where})"


def described(finding):
    accesses = " / ".join(f"{one.get('op')} {one.get('size')} {place(one)}" for one in finding.get("accesses", []))
    return f"{finding['id']} {finding['class']} {accesses}"
