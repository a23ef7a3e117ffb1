#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line of `trapline` itself: help, version, unknown commands, exit statuses.

usage: tests/cli/command.py build/trapline"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

TRAPLINE = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def run(*arguments):
    return subprocess.run([TRAPLINE, *arguments], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=30, check=False)


def commands():
    with open(os.path.join(ROOT, "cli", "commands.def"), encoding="utf-8") as lines:
        return re.findall(r"^COMMAND\((\w+),", lines.read(), re.M)


class Command(unittest.TestCase):
    def test_help_lists_every_command(self):
        for option in ("--help", "-h", "help"):
            result = run(option)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            for name in commands():
                self.assertRegex(result.stdout, rf"trapline {name}\s")

    def test_every_command_has_help(self):
        for name in commands():
            for arguments in ((name, "--help"), ("help", name)):
                result = run(*arguments)
                self.assertEqual((result.returncode, result.stderr), (0, ""), name)
                self.assertIn(f"trapline {name}", result.stdout)

    def test_every_command_refuses_unknown_options(self):
        for name in commands():
            result = run(name, "--no-such-option-exists")
            self.assertEqual((result.returncode, result.stdout), (2, ""), name)
            self.assertIn("no-such-option-exists", result.stderr)

    def test_options_that_were_probably_meant(self):
        for name, typed, words in (
                ("race", ("--bugdet", "3"), "race has no option '--bugdet'; did you mean '--budget'?"),
                ("watch", ("x", "--fisrt=3"), "did you mean '--first'?"),
                ("throttle", ("-x",), "throttle has no option '-x'; `trapline throttle --help`"),
                ("run", ("--raw=3",), "'--raw=3' has a value, and takes none"),
                ("run", ("--stats=3",), "--stats '3' is not `all`"),
                ("patch", ("-p",), "'-p' needs a value"),
                ("report", ("--fromat", "html"), "did you mean '--format'?"),
                ("race", ("--loan", "much"), "--loan 'much' is not a number of seconds"),
                ("race", ("--loan", "-1"), "--loan '-1' is not a number of seconds"),
                ("heap", ("--max-hold", "5"), "--max-hold '5' is not a time from 1ns to 1s"),
                ("race", ("--max-hold", "2s"), "--max-hold '2s' is not a time from 1ns to 1s"),
                ("race", ("--output",), "'--output' needs a value")):
            result = run(name, *typed)
            self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
            self.assertIn(words, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def aim(self, text, *more):
        """--aim at a file of that text, of a program that always works."""
        with tempfile.NamedTemporaryFile("wb") as file:
            file.write(text)
            file.flush()
            result = run("race", "--aim", file.name, *more, "--", "true")
            return result.returncode, result.stderr.replace(file.name, "FILE")

    def test_what_cannot_be_aimed_at_is_told_in_one_sentence(self):
        side = b'{"place":"a","found":"line"}'
        for text, words in (
                (b"", "has no finding with two places in the code: nothing to aim at"),
                (b"\n\n", "nothing to aim at"),
                (b"\x7fELF\x02\x01\0\0", "FILE:1: the last line was cut short"),
                (b"\xff\xfe\n", "FILE:1: not JSON"),
                (b"[1]\n", "FILE:1: "),
                (b'{"v":1,"kind":7}\n', 'field "kind"'),
                (b'{"v":1,"kind":"data-race","accesses":7}\n', 'field "accesses"'),
                (b'{"v":1,"kind":"data-race"}\n', "nothing to aim at"),
                (b'{"type":"aim","id":"1","chances":-4,"sides":[%s,%s]}\n' % (side, side), 'field "chances"'),
                (b'{"type":"aim","id":"1","sides":[%s,%s]}\n' % (side, side), "nothing to aim at"),
                (b'{"v":1,"kind":"\x1b[31m"' + b"[" * 100000 + b"\n", "FILE:1: not JSON")):
            status, told = self.aim(text)
            self.assertEqual(status, 1, (text[:60], told))
            self.assertIn(words, told)
            self.assertNotIn("\x1b", told)
            self.assertLessEqual(told.count("\n"), 2)

    def test_aim_says_what_it_does_not_go_with(self):
        for arguments, words in (
                (("heap", "--aim", "x", "--", "true"), "--aim is an option of `trapline race`"),
                (("race", "--aim", "x", "--strategy", "stall-first", "--", "true"),
                 "--aim does not go with --strategy stall-first"),
                (("race", "--aim"), "'--aim' needs a value")):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(words, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)
        result = run("race", "--aim", "/nowhere/at/all", "--", "true")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "trapline: cannot open /nowhere/at/all: No such file or directory\n")

    def test_questions_of_flow_have_its_help(self):
        for question in ("from", "to", "map"):
            self.assertEqual(run("flow", question, "--help").stdout, run("flow", "--help").stdout)

    def test_help_and_manual_pages_have_the_same_options(self):
        for name in commands():
            shown = set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", run(name, "--help").stdout))
            with open(os.path.join(ROOT, "man", f"trapline-{name}.1"), encoding="utf-8") as page:
                text = page.read()
            told = set(re.findall(r"(?:Fl |, )-([a-z][a-z-]*)", text))
            if name in self.LIKE_RACE:
                self.assertLessEqual(told, shown, name)
                self.assertIn("Xr trapline-race 1", text, name)
                continue
            self.assertEqual(shown - told - {"help"}, set(), name)
            self.assertEqual(told - shown, set(), name)

    # Commands whose further options are trapline-race(1)'s, and are told there.
    LIKE_RACE = {"run", "stack", "heap", "uninit", "flow"}

    def test_every_count_of_the_library_is_in_its_manual_page(self):
        with open(os.path.join(ROOT, "src", "base", "counters.def"), encoding="utf-8") as lines:
            counts = re.findall(r'^COUNTER\(\w+, "([^"]+)", "([^"]+)"\)', lines.read(), re.M)
        with open(os.path.join(ROOT, "man", "tl_stats.3"), encoding="utf-8") as page:
            told = re.findall(r"^\.It Li (.+)\n(.+)$", page.read(), re.M)
        self.assertEqual([pair for pair in counts if pair not in told], [])
        self.assertEqual([pair for pair in told if pair not in counts], [])

    def test_every_command_has_a_manual_page(self):
        for name in commands():
            self.assertTrue(os.path.exists(os.path.join(ROOT, "man", f"trapline-{name}.1")), name)

    def test_version(self):
        for option in ("--version", "-V"):
            self.assertRegex(run(option).stdout, r"^trapline \d+\.\d+\.\d+\n$")

    def test_a_signal_that_ends_the_program_ends_the_command(self):
        commands = (["race", "-q"], ["watch", "environ:8:w", "--later"], ["throttle", "--cpu", "90%"], ["heap", "-q"], ["run"])
        for command in commands:
            for name in ("ABRT", "KILL"):
                result = run(*command, "--", "sh", "-c", f"kill -{name} $$")
                self.assertEqual(result.returncode, -getattr(signal, "SIG" + name), (command, result))

    def test_after_an_error_of_its_own_it_ends_as_the_program_too(self):
        # The error is meant: tests/guard.py is not to hear of it.
        unheard = {name: value for name, value in os.environ.items() if name != "TRAPLINE_ERRORS"}
        with subprocess.Popen([TRAPLINE, "race", "-q", "--", "sh", "-c", "kill -SEGV $PPID; sleep 0.5; kill -TERM $$"],
                              env=unheard, stderr=subprocess.PIPE, text=True) as process:
            errors = process.stderr.read()
        self.assertIn("an error of its own", errors)
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_nothing_is_a_usage_error(self):
        result = run()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("usage: trapline", result.stderr)

    def test_near_names_are_suggested(self):
        for typed, meant in (("doctr", "doctor"), ("dcotor", "doctor")):
            result = run(typed)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"did you mean '{meant}'", result.stderr)

    def test_far_names_are_not(self):
        for typed in ("frobnicate", "", "x" * 5000):
            result = run(typed)
            self.assertEqual(result.returncode, 2)
            self.assertNotIn("did you mean", result.stderr)

    def test_unknown_option(self):
        result = run("--frobnicate")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("--frobnicate", result.stderr)

    def test_standard_descriptors_that_are_closed(self):
        """No file of ours takes their numbers, and the program finds them closed."""
        script = ": > %s; for f in 0 1 2; do test -e /proc/self/fd/$f && echo $f >> %s; done; exit 5"
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            with self.subTest(closed=closed), tempfile.TemporaryDirectory() as folder:
                told, found = os.path.join(folder, "told"), os.path.join(folder, "found")
                result = subprocess.run(
                    [TRAPLINE, "race", "-q", "-o", found, "--", "sh", "-c", script % (told, told)], capture_output=True, timeout=60,
                    check=False, preexec_fn=lambda: [os.close(fd) for fd in closed])
                self.assertEqual((result.returncode, result.stdout, result.stderr), (5, b"", b""))
                with open(told, encoding="ascii") as lines:
                    self.assertEqual([int(line) for line in lines], [fd for fd in range(3) if fd not in closed])
                self.assertEqual(os.path.getsize(found), 0)

    def test_what_cannot_be_said_is_no_success(self):
        for words in (("--help",), ("--version",), ("race", "--help"), ("doctor",)):
            result = subprocess.run([TRAPLINE, *words], stderr=subprocess.PIPE, timeout=60, check=False,
                                    preexec_fn=lambda: os.close(1))
            self.assertNotEqual(result.returncode, 0, words)
            self.assertIn(b"standard output cannot be written", result.stderr)

    def test_files_in_memory_are_files(self):
        """Below /dev, where most names are no files."""
        with tempfile.NamedTemporaryFile("w", dir="/dev/shm") as file:
            file.write("old\n" * 100)
            file.flush()
            os.chmod(file.name, 0o644)
            self.assertEqual(run("race", "-q", "-o", file.name, "--", "true").returncode, 0)
            self.assertEqual((os.stat(file.name).st_mode & 0o777, os.stat(file.name).st_size), (0o600, 0))

    def test_options_of_flow_behind_a_cluster(self):
        with tempfile.NamedTemporaryFile("w") as file:
            result = run("flow", "map", "-qo", file.name, "--format", "text", "--", "echo", "told")
            self.assertEqual((result.returncode, result.stdout), (0, "told\n"), result.stderr)

    def test_options_of_the_environment(self):
        for text, words in (("budget 5", "TRAPLINE_OPTIONS has 'budget', which is no option"),
                            ("-q budget", "TRAPLINE_OPTIONS has 'budget', which is no option"),
                            ("-q " * 70, "TRAPLINE_OPTIONS has more than 64 words"), ("-q --budget 5", "")):
            result = subprocess.run([TRAPLINE, "race", "--", "true"], capture_output=True, text=True, timeout=60, check=False,
                                    env={**os.environ, "TRAPLINE_OPTIONS": text})
            self.assertEqual((result.returncode, result.stdout), (2 if words else 0, ""))
            self.assertIn(words, result.stderr)

    def test_words_of_the_program_are_its_own(self):
        many = [str(number) for number in range(400)]
        for before in (("--",), ()):
            for words in (["--format", "html", "--by", "me"], many):
                result = run("flow", "map", "-q", "--format", "text", "--budget", "2", *before, "echo", *words)
                self.assertEqual((result.returncode, result.stdout), (0, " ".join(words) + "\n"))

    def test_output_that_is_the_programs_too(self):
        with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as file:
            for name in ("/dev/stdout", file.name):
                result = subprocess.run([TRAPLINE, "race", "-q", "-o", name, "--", "sh", "-c", "sh -c 'echo one'; echo two"],
                                        stdout=file, stderr=subprocess.PIPE, timeout=60, check=False)
                self.assertEqual((result.returncode, result.stderr), (0, b""))
            file.seek(0)
            self.assertEqual(file.read(), "one\ntwo\n" * 2)

    def test_signals_reach_the_program(self):
        """Those sent to trapline by another process; what a terminal sends, the program gets by itself."""
        # signal.pause() could begin between a signal and the call of Python's handler, and sleep for ever.
        script = ("import os, signal, sys, time\n"
                  "for number in map(int, sys.argv[1].split()):\n"
                  "    signal.signal(number, lambda number, frame: os._exit(number))\n"
                  "print('ready', flush=True)\n"
                  "while True:\n    time.sleep(0.05)")
        numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
        for number in numbers:
            with self.subTest(signal=number), subprocess.Popen(
                    [TRAPLINE, "race", "-q", "--", sys.executable, "-c", script, " ".join(map(str, map(int, numbers)))],
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
                self.assertEqual(process.stdout.readline(), "ready\n")
                process.send_signal(number)
                self.assertEqual(process.wait(60), int(number))


if __name__ == "__main__":
    unittest.main()
