#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every option that a command's --help names, with a value that is missing, empty, no number, huge, no text, a folder or a
full disk; every command with standard descriptors closed: one sentence or the program as it runs bare, a documented exit
status, never a crash.

usage: tests/cli/every_option.py build/trapline"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TRAPLINE = os.path.abspath(sys.argv.pop(1))
STATUS = 5
PROGRAM = ["--", "sh", "-c", f"exit {STATUS}"]
NOBODY = "4194303"  # above the kernel's largest pid
# What stands before an option and what after it. `stop` and `list` have none; of `service` what changes nothing.
WORDS = {
    "race": (["race", "-q"], PROGRAM), "heap": (["heap", "-q"], PROGRAM), "stack": (["stack", "-q"], PROGRAM),
    "uninit": (["uninit", "-q"], PROGRAM), "run": (["run", "-q", "--tool", "race"], PROGRAM),
    "watch": (["watch", "environ"], PROGRAM), "flow": (["flow", "map"], PROGRAM),
    "throttle": (["throttle", "--cpu", "50%"], PROGRAM), "patch": (["patch", "-p", NOBODY], ["fix.so", "f"]),
    "report": (["report"], ["one.jsonl"]), "doctor": (["doctor"], []), "service": (["service", "show"], ["no-such-service"]),
}
OPTION = re.compile(r"^  (?:(-\w), )?(--[a-z][a-z-]*)(\[=\S+\]|(?: \S+)?)", re.M)
VALUES = ("", " ", "five", "-1", "0", "9" * 400, "1e999", "0x", "%s%n%n", "a,b=c:d", b"\xff\xfe\x80", "a" * 100000,
          "/dev/full", "/nowhere/at/all", ".", "\u202e\u00e9",
          "\x1b[31mred\x1b]0;title\a", "two\ntrapline: lines", "\t\r\x7f", "\u009b2J")
FEW = ("", "9" * 400, "\x1b[31m\n")
CONTROL = re.compile(r"[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# 0 and 1: its own; 2: a wrong command line; 3: `report --baseline`; 126 and 127: no program to run; else the program's.
STATUSES = {0, 1, 2, 3, STATUS, 126, 127}


def run(*words, **options):
    return subprocess.run([TRAPLINE, *words], **{"stdin": subprocess.DEVNULL, "capture_output": True, "check": False, "timeout": 120,
                                                  **options})


def options_of(command):
    """(-x or None, --name, whether it takes a value: "", " VALUE" or "[=VALUE]")"""
    return OPTION.findall(run(command, "--help").stdout.decode())


def commands():
    return re.findall(r"^  trapline (\w+) ", run("--help").stdout.decode(), re.M)


class EveryOption(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="trapline-option-")
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(self.folder, "one.jsonl"), "w", encoding="ascii") as file:
            file.write('{"v":1,"kind":"data-race","accesses":[{"op":"write","stack":[{"function":"f"}]}]}\n')

    def judge(self, words):
        """A sentence about what is wrong with it, or None."""
        try:
            # A folder of its own: some values are names of files that are made.
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                shutil.copy(os.path.join(self.folder, "one.jsonl"), folder)
                result = run(*words, cwd=folder)
        except subprocess.TimeoutExpired:
            return f"{words}: it hangs"
        errors = result.stderr.decode(errors="backslashreplace")
        about = f"{[word[:40] for word in words]}: status {result.returncode}, {errors[:300]!r}"
        if result.returncode not in STATUSES:
            return f"no documented status: {about}"
        if CONTROL.search(errors):
            return f"control characters: {about}"
        if result.returncode in (1, 2) and not errors.startswith("trapline"):
            return f"no sentence: {about}"
        # What may be given is listed below the sentence.
        if result.returncode == 2 and (re.search(r"\n(?!  |$)", errors.rstrip("\n")) or result.stdout):
            return f"not one sentence: {about}"
        return None

    def judge_all(self, lines):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            wrong = [sentence for sentence in pool.map(self.judge, lines) if sentence]
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_all_commands_are_known_here(self):
        self.assertEqual(set(commands()) - set(WORDS), {"list", "stop"})
        for command in WORDS:
            named = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", run(command, "--help").stdout.decode(), re.M))
            self.assertEqual({name for _, name, _ in options_of(command)}, named, command)

    def test_values(self):
        lines, known = [], {option for option in options_of("race")}
        for command, (before, after) in WORDS.items():
            for short, name, value in options_of(command):
                if not value:
                    continue
                tail = after if name != "--pid" else []
                # The detectors share their options, and one function reads them.
                for word in FEW if command != "race" and (short, name, value) in known else VALUES:
                    word = os.fsdecode(word)
                    lines.append([*before, f"{name}={word}", *tail])
                    if not value.startswith("["):
                        lines.append([*before, short or name, word, *tail])
        self.assertGreater(len(lines), 500)
        self.judge_all(lines)

    def test_missing_values_and_values_too_many(self):
        lines = []
        for command, (before, after) in WORDS.items():
            for short, name, value in options_of(command):
                if not value:
                    lines.append([*before, f"{name}=x", *after])
                elif not value.startswith("["):
                    lines += [[*before, word] for word in (short, name) if word]
            for word in ("--nonsense", "--nonsense=5", "-Z", "--=", os.fsdecode(b"--\xff"), "-" + "Z" * 5000, "--" + "a" * 100000,
                         "--\x1b[31m\n", "-\x1b", "-\u009b"):
                lines.append([*before, word, *after])
        for line in lines:
            with self.subTest(line=line):
                result = run(*line, cwd=self.folder)
                self.assertEqual((result.returncode, result.stdout), (2, b""), result.stderr)
        self.judge_all(lines)

    def test_words(self):
        """Commands, programs, expressions and other words."""
        words = ("\x1b[31m\n", "\u202e", "\u009b2J", "no\nsuch")
        lines = [[*before, word] for word in words for before in (
            [], ["help"], ["stop"], ["list"], ["flow"], ["flow", "from"], ["watch", "environ", "--"], ["watch"], ["throttle", "--cpu", "5%", "--"],
            ["race", "--"], ["heap", "--"], ["run", "--tool"], ["run", "--"], ["report"], ["doctor"], ["service"], ["service", "enable"],
            ["service", "disable"], ["service", "show"], ["patch", "-p", NOBODY], ["patch", "-p", NOBODY, "fix.so"], ["race", "-p"])]
        lines += [["watch", word, "--", "true"] for word in words]
        lines += [["race", "-q", "--tool-option", word, "--", "true"] for word in words]
        self.judge_all(lines)

    def test_options_of_the_environment(self):
        for word in ("--\x1b[31m", "\u009b", "--budget=\x1b"):
            result = run("race", "--", "true", env={**os.environ, "TRAPLINE_OPTIONS": word})
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIsNone(CONTROL.search(result.stderr.decode(errors="backslashreplace")), result.stderr)

    def test_closed_descriptors(self):
        """Whatever is closed stays closed for the program, and nothing of ours is written where it was open."""
        show = 'for at in 0 1 2; do test -e /proc/$$/fd/$at && told="$told $at"; done; echo "open:$told" >told; exit 5'
        for closed in ("0<&-", "1>&-", "2>&-", "0<&- 1>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"):
            shell = ["sh", "-c", f'exec "$@" {closed}', "sh"]
            for command in ("race", "heap", "stack", "uninit", "run", "watch", "flow", "throttle"):
                with self.subTest(closed=closed, command=command), tempfile.TemporaryDirectory(dir=self.folder) as folder:
                    output = [] if command == "throttle" else ["-o", "out"]
                    told = []
                    for words in ([], [TRAPLINE, *WORDS[command][0], *output, "--"]):
                        result = subprocess.run([*shell, *words, "sh", "-c", show], cwd=folder, stdin=subprocess.DEVNULL, timeout=60,
                                                capture_output=True, check=False)
                        with open(os.path.join(folder, "told"), encoding="ascii") as file:
                            told.append((result.returncode, result.stdout, file.read()))
                    self.assertEqual(told[0], told[1])
                    if output:
                        with open(os.path.join(folder, "out"), encoding="utf-8") as file:
                            self.assertEqual([line for line in file if not line.startswith("{")], [])
            for words in (["report", "one.jsonl"], ["doctor"], ["list"], ["--help"], ["race", "--help"], ["report", "-"]):
                result = subprocess.run([*shell, TRAPLINE, *words], cwd=self.folder, stdin=subprocess.DEVNULL, timeout=60,
                                        capture_output=True, check=False)
                self.assertIn(result.returncode, (0, 1), (closed, words, result.stderr))


if __name__ == "__main__":
    unittest.main()
