#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a mistyped command line, a missing file, a full disk or a poor environment makes `trapline` say: one
sentence on standard error that says what is wrong, the documented exit status, and nothing lost.

usage: tests/cli/bad_input.py build/trapline"""
import json
import os
import pwd
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TRAPLINE = os.path.abspath(sys.argv.pop(1))
# Ways to run a program, up to it.
RUNNERS = (("race", "-q"), ("heap", "-q"), ("stack", "-q"), ("uninit", "-q"), ("flow", "map", "-q"), ("run", "-q", "--tool", "race"),
           ("watch", "environ", "--count"), ("throttle", "--cpu", "50%"), ("run",))
# Values that are no number for anything.
NO_NUMBERS = ("", " ", "five", "5x", "-1", "nan", "inf", "-inf", "1e400", "0x", "99999999999999999999999")
NUMBERS = {
    "race": ("--budget", "--slots", "--seed", "--duration", "--start-delay", "--error-exitcode", "--max-hold", "--loan"),
    "watch": ("--first", "--every", "--after", "--budget", "--duration"),
    "throttle": ("--cpu", "--faults", "--duration"),
    "report": ("--error-exitcode",),
    "patch": ("--revert",),
}


def run(*arguments, **options):
    options = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "timeout": 60, "check": False,
               "errors": "replace", **options}
    return subprocess.run([TRAPLINE, *arguments], **options)


def elf32(path):
    """An i386 program that ends with status 5, where the kernel runs such programs."""
    code = bytes.fromhex("b801000000bb05000000cd80")  # exit(5)
    start = 0x08048000
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, start + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    load = struct.pack("<IIIIIIII", 1, 0, start, start, 84 + len(code), 84 + len(code), 5, 4096)
    with open(path, "wb") as file:
        file.write(header + load + code)
    os.chmod(path, 0o755)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="trapline-bad-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)

    def path(self, name, content=None, mode=0o644):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
            os.chmod(path, mode)
        return path

    def assert_told(self, result, status, *words):
        """One sentence."""
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("trapline"), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)


class Values(Case):
    def test_no_numbers(self):
        for command, options in NUMBERS.items():
            for option in options:
                for value in NO_NUMBERS:
                    with self.subTest(command=command, option=option, value=value):
                        before = ("x",) if command == "watch" else ()
                        self.assert_told(run(command, *before, f"{option}={value}", "--", "true"), 2, f"'{value}'")

    def test_options_of_tools(self):
        for tool, option, *words in (("race", "depth=3", "'depth=3'", "no tool"), ("heap", "race.all=1", "'race.all=1'", "no tool"),
                                     ("stack", "function", "NAME=VALUE"), ("heap", "=1", "NAME=VALUE"), ("heap", "memory=0", "'0'"),
                                     ("heap", "strategy=guess", "'guess'")):
            self.assert_told(run("run", "--tool", tool, "--tool-option", option, "-q", "--", "echo", "told"), 2, *words)

    def test_tools(self):
        self.assert_told(run("run", "--tool", "race,nosuch", "-q", "--", "echo", "told"), 2, "'nosuch'")
        self.assert_told(run("run", "--tool", "./nosuch.so", "-q", "--", "echo", "told"), 1, "./nosuch.so")
        self.assertEqual(run("run", "--tool", "race,race", "-q", "--", "echo", "told").stdout, "told\n")

    def test_numbers_that_must_be_whole(self):
        for command, option, value in (("race", "--slots", "2.5"), ("race", "--error-exitcode", "1.5"), ("race", "--seed", "0.5"),
                                       ("watch", "--first", "1.5"), ("watch", "--every", "2.5")):
            before = ("x",) if command == "watch" else ()
            self.assert_told(run(command, *before, f"{option}={value}", "--", "true"), 2, f"'{value}'")

    def test_pids(self):
        for command in (("race",), ("watch", "x"), ("throttle", "--cpu", "5%"), ("patch", "--list"), ("flow", "map")):
            # A name that nobody has is as a number that nobody has: no wrong command line.
            for value, status in (("0", 2), ("-1", 2), ("99999999999", 2), ("1e3x", 1), ("no such name at all", 1)):
                with self.subTest(command=command, value=value):
                    self.assert_told(run(*command, "-p", value), status)
            result = run(*command, "-p", "4194303")
            self.assert_told(result, 1, "4194303")

    def test_stop(self):
        for value in ("0", "-1", "99999999999", "x", ""):
            self.assert_told(run("stop", value), 2)
        self.assert_told(run("stop", "4194303"), 1, "4194303")

    def test_missing_words(self):
        for words in (("race",), ("heap",), ("stack",), ("uninit",), ("run",), ("watch",), ("watch", "x"), ("throttle",), ("throttle", "--cpu", "5%"),
                      ("flow",), ("flow", "from"), ("flow", "from", "x"), ("flow", "map"), ("patch",), ("patch", "-p", "1"), ("report",), ("stop",),
                      ("service",), ("service", "enable"), ("race", "--"), ("watch", "x", "--"), ("throttle", "--", "true")):
            with self.subTest(words=words):
                self.assert_told(run(*words), 2)


class Programs(Case):
    def each(self, program, status, *words):
        for runner in RUNNERS:
            with self.subTest(runner=runner):
                self.assert_told(run(*runner, "--", program), status, *words)

    def test_none(self):
        self.each("/nowhere/at/all", 127, "/nowhere/at/all cannot be run: No such file or directory")
        self.each("no-such-program-exists", 127, "no-such-program-exists cannot be run")

    def test_not_executable(self):
        self.each(self.path("data", b"\0\1\2"), 126, "Permission denied")

    def test_directory(self):
        self.each(self.folder, 126, "it is a directory")

    def test_bad_interpreter(self):
        self.each(self.path("script", b"#!/no/such/interpreter -x\n", 0o755), 126, "it needs /no/such/interpreter, which is not there")

    def test_bad_linker(self):
        with open("/bin/true", "rb") as file:
            content = file.read()
        linker = b"/lib64/ld-linux-x86-64.so.2"
        if linker not in content:
            self.skipTest("/bin/true is no usual program")
        self.each(self.path("program", content.replace(linker, b"/lib64/ld-linux-x86-64.so.9"), 0o755), 126,
                  "it needs /lib64/ld-linux-x86-64.so.9, which is not there")

    def test_32_bits(self):
        program = self.path("small")
        elf32(program)
        try:
            runs = subprocess.run([program], check=False).returncode == 5
        except OSError:
            runs = False
        if not runs:
            return  # this kernel runs no 32-bit programs
        for runner in RUNNERS[:-1]:
            with self.subTest(runner=runner):
                self.assert_told(run(*runner, "--", program), 1 if runner[0] == "throttle" else 5, "is not a 64-bit x86 program")


class Symbols(Case):
    def setUp(self):
        super().setUp()
        source = self.path("named.c", b"int counter_of_bytes; static int twice; int main(void) { return counter_of_bytes + twice; }\n")
        other = self.path("other.c", b"static int twice; int other(void) { return twice++; }\n")
        self.program = self.path("named")
        if not shutil.which("cc"):
            self.skipTest("no compiler")
        subprocess.run(["cc", "-g", "-O0", "-o", self.program, source, other], check=True)

    def test_unknown_name(self):
        result = run("watch", "counter_of_byte", "--", self.program)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("counter_of_bytes", result.stderr, "the name that was meant")

    def test_ambiguous_name(self):
        result = run("watch", "twice", "--", self.program)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertRegex(result.stderr, r"trapline: twice: that of (named|other)\.c is meant; 1 other: (named|other)\.c:twice\n")
        result = run("watch", "other.c:twice", "--", self.program)
        self.assertNotIn("is meant", result.stderr)

    def test_no_expressions(self):
        for text in ("", " ", "->", "a..b", "x[", "0x", "0xzz", "x:", "x:q", "x:0", "x:-1", "heap:", "\x1b[31m", "x" * 10000):
            with self.subTest(text=text[:20]):
                result = run("watch", text, "--", self.program)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertNotIn("\x1b", result.stderr)


class Files(Case):
    FINDING = {"v": 1, "kind": "data-race", "accesses": [{"op": "write", "stack": [{"function": "f"}]}]}

    def test_what_is_no_report(self):
        line = json.dumps(self.FINDING).encode()
        for name, content, words in (("empty", b"", None), ("cut", line + b"\n" + line[:40], "the last line was cut short"),
                                     ("binary", bytes(range(256)) * 20, "not JSON"), ("text", b"hello\n", "not JSON")):
            result = run("report", self.path(name, content))
            self.assertEqual(result.returncode, 1 if words and words != "the last line was cut short" else 0, (name, result.stderr))
            self.assertIn(words or "", result.stderr)
            self.assertNotIn("\x1b", result.stderr)
        self.assertIn("f", run("report", self.path("cut")).stdout, "what is whole is reported")

    def test_many_bad_lines(self):
        line = json.dumps(self.FINDING).encode() + b"\n"
        result = run("report", self.path("mixed", line + b"hello\n" * 500 + line))
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 11), result.stderr)
        self.assertIn("mixed: 490 more lines are no findings\n", result.stderr)
        self.assertIn("seen 2 times", result.stdout, "what lies behind them is reported")
        self.assertIn("1 more line is no finding\n", run("report", self.path("eleven", b"{}\n" * 11)).stderr)

    def test_what_has_no_end(self):
        hole = self.path("hole", b"")
        os.truncate(hole, 10 << 30)
        for path in ("/dev/urandom", "/dev/zero", hole):
            with self.subTest(path=path):
                result = run("report", path, timeout=20)
                self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
                self.assertIn("not JSON, nor text at all\n", result.stderr)
                self.assertLess(result.stderr.count("\n"), 15)
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        with subprocess.Popen(["sh", "-c", 'echo hello >"$0"', pipe]):
            self.assert_told(run("report", pipe), 1, "pipe:1: not JSON")

    def test_what_cannot_be_read(self):
        self.assert_told(run("report", self.folder), 1, self.folder)
        self.assert_told(run("report", self.path("missing")), 1, "No such file")
        self.assert_told(run("race", "-q", "--suppressions", self.path("missing"), "--", "true"), 1, "No such file")
        self.assert_told(run("race", "-q", "--aim", self.folder, "--", "true"), 1, self.folder)
        if os.geteuid() != 0:
            return
        nobody = {"user": pwd.getpwnam("nobody").pw_uid, "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []}
        path = self.path("secret", b"", 0o600)
        try:
            self.assert_told(run("report", path, **nobody), 1, "Permission denied")
        except PermissionError:
            pass  # trapline itself lies where nobody may not go

    def test_what_can_be_read_is_reported(self):
        """One of several files is missing, or is no text."""
        one = self.path("one.jsonl", json.dumps(self.FINDING).encode() + b"\n")
        alone = run("report", one)
        zeros = self.path("zeros", json.dumps(self.FINDING).encode() + b"\n" + b"\0\n" * 200)
        for words in (self.path("none"), one), (one, self.path("none")), (zeros,):
            with self.subTest(words=words):
                result = run("report", *words)
                self.assertEqual((result.returncode, result.stdout), (1, alone.stdout), result.stderr)
                self.assertIn("none" if one in words else "zeros", result.stderr)

    def test_what_was_found_stays_where_nothing_runs(self):
        """The file of -o is emptied when there is something to write into it, a program under way."""
        line = json.dumps(self.FINDING).encode() + b"\n"
        for words in (("race", "-q"), ("watch", "errno")):
            for program, status in (("/nonexistent/program", 127), ("/etc/passwd", 126)):
                path = self.path("findings.jsonl", line)
                result = run(*words, "-o", path, "--", program)
                self.assert_told(result, status, program)
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), line, (words, program))
            self.assertEqual(run(*words, "-o", path, "--", "true").returncode, 0)
            with open(path, "rb") as file:
                self.assertNotIn(line, file.read(), words)

    def test_names_that_are_none(self):
        for words in ("race", "-o", "", "--", "true"), ("watch", "x", "-o", "", "--", "true"), ("report", "-o", ""), \
                ("heap", "-o", "--", "true"), ("report", "--output", "--", "x"):
            with self.subTest(words=words):
                self.assert_told(run(*words), 2, "'-o' needs the name of a file")
        for words in ("from", "--", "true"), ("to", "--budget", "5", "x", "--", "true"):
            with self.subTest(words=words):
                self.assert_told(run("flow", *words), 2, "of what?")

    def test_what_cannot_be_written(self):
        one = self.path("one.jsonl", json.dumps(self.FINDING).encode() + b"\n")
        for target in ("/dev/full", self.folder, "/nowhere/at/all"):
            for runner in RUNNERS[:-2]:
                with self.subTest(runner=runner, target=target):
                    result = run(*runner, "-o", target, "--", "sh", "-c", "exit 5")
                    # What is found nowhere is written nowhere: only then is a full disk not noticed.
                    self.assertIn(result.returncode, (1, 5) if target == "/dev/full" else (1,), result.stderr)
            self.assert_told(run("report", one, "-o", target), 1, target)
        for words in (("report", one), ("--help",), ("race", "--help"), ("doctor",), ("list",)):
            with open("/dev/full", "w", encoding="ascii") as full:
                result = run(*words, capture_output=False, stdout=full, stderr=subprocess.PIPE)
            if words == ("list",) and not result.stderr.count("standard output"):
                continue  # nothing is watched, which is said elsewhere
            self.assertEqual(result.returncode, 1, (words, result.stderr))
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn("standard output", result.stderr)

    def test_why_it_cannot_be_written(self):
        line = json.dumps(self.FINDING).encode() + b"\n"
        for count in 1, 20000:
            one = self.path("one.jsonl", line * count)
            for form in "text", "jsonl", "sarif", "html", "markdown", "summary":
                with self.subTest(count=count, form=form):
                    self.assert_told(run("report", one, "--format", form, "-o", "/dev/full"), 1, "No space left on device")

    def test_why_suppressions_cannot_be_written(self):
        source = self.path("twice.c", b"#include <stdlib.h>\nint main(void) { void *volatile p = malloc(40); free(p); free(p); return 5; }")
        subprocess.run(["gcc", "-w", "-o", self.path("twice"), source], check=True)
        result = run("heap", "--all", "-q", "-o", self.path("found"), "--gen-suppressions", "/dev/full", "--", self.path("twice"))
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("/dev/full could not be written in full: No space left on device", result.stderr)

    def test_folders_that_are_not_there(self):
        one = self.path("one.jsonl", json.dumps(self.FINDING).encode() + b"\n")
        for option in "--symbols", "--sources":
            for path, why in ((self.path("none"), "No such file"), (one, "Not a directory")):
                with self.subTest(option=option, path=path):
                    result = run("report", one, option, path)
                    self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1), result.stderr)
                    self.assertIn(f"{option} '{path}' cannot be read: {why}", result.stderr)
                    self.assertIn("data race", result.stdout, "what could be read is reported")

    def test_nobody_reads(self):
        """As `| head`: ended by SIGPIPE as other commands are, or told; never for ever, never a crash."""
        one = self.path("one.jsonl", (json.dumps(self.FINDING) + "\n").encode() * 2000)
        for words in (("report", one, "--format", "jsonl"), ("--help",), ("doctor", "--json")):
            end, other = os.pipe()
            os.close(end)
            result = run(*words, capture_output=False, stdout=other, stderr=subprocess.PIPE)
            os.close(other)
            self.assertIn(result.returncode, (1, -13), (words, result.stderr))


class Surroundings(Case):
    PLACES = ({"LC_ALL": "xx_XX.UTF-8"}, {"LC_ALL": "C"}, {"COLUMNS": "1"}, {"COLUMNS": "-5"}, {"COLUMNS": "x"}, {"NO_COLOR": "1"},
              {"TERM": "dumb"}, {"TMPDIR": "/nowhere/at/all"}, {"HOME": None}, {"PATH": "/usr/bin:/bin"}, {"TRAPLINE_OPTIONS": ""})

    def test_the_program_runs_as_it_does(self):
        for change in self.PLACES:
            environment = {key: value for key, value in {**os.environ, **change}.items() if value is not None}
            for runner in RUNNERS:
                with self.subTest(change=change, runner=runner):
                    result = run(*runner, "--", "sh", "-c", "echo told; exit 5", env=environment)
                    self.assertEqual((result.returncode, result.stdout), (5, "told\n"), result.stderr)
                    self.assertNotIn("\x1b", result.stderr)

    def test_without_proc(self):
        statuses = {("throttle", "--cpu", "50%"): 1, ("run",): 126}
        alone = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if os.geteuid() or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
            return
        for runner in RUNNERS:
            with self.subTest(runner=runner):
                result = subprocess.run([*alone, TRAPLINE, *runner, "--", "sh", "-c", "exit 5"], stdin=subprocess.DEVNULL,
                                        capture_output=True, text=True, check=False, timeout=60)
                self.assert_told(result, statuses.get(runner, 5), "/proc is not mounted here")

    def test_without_an_environment(self):
        for runner in RUNNERS:
            result = run(*runner, "--", "/bin/sh", "-c", "exit 5", env={})
            self.assertEqual((result.returncode, result.stdout), (5, ""), (runner, result.stderr))


if __name__ == "__main__":
    if run("doctor").returncode and os.environ.get("TRAPLINE_REQUIRE_HARDWARE") != "1":
        print("watchpoints do not fire here")
        sys.exit(77)
    unittest.main()
