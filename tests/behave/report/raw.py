#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run of a stripped program, recorded raw, is named and judged elsewhere as if it had not been.

Usage: raw.py TRAPLINE
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TRAPLINE = os.path.abspath(sys.argv[1])
LIMIT = 60  # seconds

SOURCE = """
#include <pthread.h>

int shared[4], seen;

static void *reader(void *unused)
{
	(void)unused;
	for (;;) {
		seen = shared[2]; /* read */
		__asm__ volatile("" ::: "memory");
	}
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, reader, 0);
	for (int i = 0;; i++) {
		shared[2] = i; /* written */
		__asm__ volatile("" ::: "memory");
	}
}
"""

# What a stripped program shows of itself: an update without LOCK, a loop around LOCK CMPXCHG.
RANKED = """
#include <pthread.h>

long counter, flags;

static void *worker(void *mask)
{
	for (;;) {
		counter++;
		__asm__ volatile("" ::: "memory");
		__asm__ volatile("" : : "r"(__sync_fetch_and_xor(&flags, (long)mask)));
		for (volatile int i = 0; i < 300; i++)
			;
	}
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, worker, (void *)1);
	worker((void *)2);
}
"""

# A local of an inlined function, shared by what the compiler makes of the block.
OUTLINED = """
static inline __attribute__((always_inline)) int work(int n)
{
	int last = 0;

#pragma omp parallel num_threads(4)
	for (int i = 0; i < n; i++) {
		last = i;
		__asm__ volatile("" ::: "memory");
	}
	return last;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (;;)
		__asm__ volatile("" : : "r"(work(argc * 2000000000)));
}
"""


def line_of(comment):
    return next(i for i, text in enumerate(SOURCE.splitlines(), 1) if comment in text)


class Raw(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="raw-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def text(path):
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def record(self, *options, command=(), enough=bool):
        """Runs the program, or a command that does, until its findings are enough; their file."""
        output = self.path("races.jsonl")
        if os.path.exists(output):
            os.remove(output)
        process = subprocess.Popen([TRAPLINE, "race", "-q", "-o", output, *options, "--",
                                    *(command or [self.path("program")])],
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        until = time.monotonic() + LIMIT
        while time.monotonic() < until and not enough(self.text(output)):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGTERM)  # what a shell has started, too
        process.wait(LIMIT)
        return output

    def compile(self, source, *options, compiler="gcc"):
        with open(self.path("program.c"), "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run([compiler, "-O1", "-pthread", *options, "-o", self.path("program"),
                        self.path("program.c")], check=True)

    def build(self, program=SOURCE):
        """The program stripped, and its debug information where `--symbols debug` finds it."""
        source, whole = self.path("program.c"), self.path("whole")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program)
        subprocess.run(["gcc", "-g", "-O1", "-pthread", "-Wl,--build-id", "-o", whole, source],
                       check=True)
        notes = subprocess.run(["readelf", "-n", whole], capture_output=True, text=True, check=True)
        build_id = notes.stdout.split("Build ID: ")[1].split()[0]
        os.makedirs(self.path(f"debug/.build-id/{build_id[:2]}"))
        subprocess.run(["strip", "-o", self.path("program"), whole], check=True)
        os.rename(whole, self.path(f"debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"))
        return build_id

    def test_what_a_stripped_program_lacks_is_had_elsewhere(self):
        build_id = self.build()
        output = self.record("--raw")
        with open(output, encoding="utf-8") as file:
            recorded = [json.loads(line) for line in file]
        self.assertTrue(recorded)
        for finding in recorded:
            self.assertEqual((finding["class"], finding["object"].get("name")), ("possible", None))
            for access in finding["accesses"]:
                self.assertEqual(access["stack"][0]["build_id"], build_id)
                self.assertNotIn("function", access["stack"][0])
        os.remove(self.path("program"))
        result = subprocess.run([TRAPLINE, "report", output, "--format", "jsonl", "--symbols",
                                 self.path("debug")], capture_output=True, text=True, check=True)
        named = [json.loads(line) for line in result.stdout.splitlines()]
        places = {(access["stack"][0]["function"], access["stack"][0]["line"])
                  for finding in named for access in finding["accesses"]}
        self.assertLessEqual({("reader", line_of("/* read */")), ("main", line_of("/* written */"))},
                             places)
        for finding in named:
            self.assertEqual(finding["class"], "likely", finding)
            self.assertTrue(finding["object"]["name"].startswith(("shared", "seen")), finding)
            self.assertIn("is a plain access", " ".join(finding["evidence"]))

    def test_a_finding_is_of_the_program_that_raced_and_not_of_the_shell_that_started_it(self):
        self.build()
        output = self.record(command=("sh", "-c", self.path("program") + "; true"))
        with open(output, encoding="utf-8") as file:
            programs = {json.loads(line)["program"] for line in file}
        self.assertEqual(programs, {os.path.realpath(self.path("program"))})

    def test_an_update_without_lock_comes_first_and_the_load_before_cmpxchg_last(self):
        self.compile(RANKED, "-s")
        subprocess.run(["objcopy", "-R", ".comment", self.path("program")], check=True)
        wanted = {"an update without LOCK can lose the other thread's write": 10,
                  "a load proposes the value that a LOCK CMPXCHG then compares": 90}
        output = self.record(enough=lambda text: all(f'"{reason}"' in text for reason in wanted))
        result = subprocess.run([TRAPLINE, "report", output, "--format", "jsonl"],
                                capture_output=True, text=True, check=True)
        findings = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual({finding["class"] for finding in findings}, {"possible"})
        ranks = [finding["rank"] for finding in findings]
        self.assertEqual((ranks[0], ranks[-1]), (10, 90), findings)
        for finding in findings:
            self.assertEqual(wanted[finding["evidence"][0]], finding["rank"])

    def test_debug_information_names_the_compiler_where_the_section_was_stripped(self):
        self.compile(RANKED, "-g")
        subprocess.run(["objcopy", "-R", ".comment", self.path("program")], check=True)
        os.remove(self.path("program.c"))
        with open(self.record(enough=lambda text: '"definite"' in text), encoding="utf-8") as file:
            classes = {finding["object"]["name"]: finding["class"] for finding in map(json.loads, file)}
        self.assertEqual(classes["counter"], "definite")

    def report(self, output, *options):
        result = subprocess.run([TRAPLINE, "report", output, "--format", "jsonl", *options],
                                capture_output=True, text=True, check=True)
        return [json.loads(line) for line in result.stdout.splitlines()], result.stderr

    def give_source(self, path, text):
        path = self.path(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_sources_that_come_later_are_found_by_their_ends_and_raise_the_class(self):
        self.give_source("build/server/stat.c", SOURCE)
        subprocess.run(["gcc", "-g", "-O1", "-pthread", "-o", self.path("program"), "../server/./stat.c"],
                       check=True, cwd=os.path.join(self.folder, "build/server"))
        os.remove(self.path("build/server/stat.c"))
        output = self.record()
        found, _ = self.report(output)
        self.assertEqual({finding["class"] for finding in found}, {"possible"})
        # One of another directory, one of another version, and the very one, newer than the program.
        self.give_source("tree/client/stat.c", SOURCE.replace("seen", "heard"))
        self.give_source("tree/old/server/stat.c", SOURCE.replace("reader", "a_reader\n\n\n\n", 1)[:300])
        self.give_source("tree/new/server/stat.c", SOURCE)
        found, told = self.report(output, "--sources", self.path("tree"))
        self.assertEqual({finding["class"] for finding in found}, {"likely"}, found)
        self.assertEqual(told, "")
        for finding in found:
            lines = {f"line {access['stack'][0]['line']} of" for access in finding["accesses"]}
            self.assertTrue(any(line in reason for line in lines for reason in finding["evidence"]))
        text = subprocess.run([TRAPLINE, "report", output, "--sources", self.path("tree")],
                              capture_output=True, text=True, check=True)
        self.assertIn("| shared[2] = i; /* written */", text.stdout)
        # A third that fits as well: nothing tells which it was.
        self.give_source("tree/newer/server/stat.c", SOURCE + "/* more */\n")
        found, told = self.report(output, "--sources", self.path("tree"))
        self.assertEqual({finding["class"] for finding in found}, {"possible"})
        self.assertIn("several of those given fit", told)

    def test_debug_information_that_comes_later_lowers_the_class(self):
        build_id = self.build(RANKED.replace("counter++", "atomic_inc()").replace(
            "static void *worker", "static void atomic_inc(void)\n{\n\tcounter++;\n}\n\nstatic void *worker"))
        output = self.record(enough=lambda text: '"definite"' in text)
        found, _ = self.report(output)
        self.assertIn("definite", {finding["class"] for finding in found}, build_id)
        found, _ = self.report(output, "--symbols", self.path("debug"))
        steps = [finding for finding in found
                 if finding["accesses"][0]["stack"][0].get("function") == "atomic_inc"]
        self.assertTrue(steps, found)
        for finding in steps:
            self.assertEqual((finding["class"], finding["rank"]), ("possible", 95), finding)

    def test_what_outlined_functions_share_has_the_name_it_has_in_the_source(self):
        """By the frame it lies in, or by the outlined function's own view of it."""
        for compiler in ("gcc", "clang"):
            self.compile(OUTLINED, "-g", "-fopenmp", compiler=compiler)
            with open(self.record(), encoding="utf-8") as file:
                names = {finding["object"].get("name") for finding in map(json.loads, file)}
            self.assertLessEqual(names, {"work::last", "main::last", "last"}, compiler)

    def test_what_counted_nothing_is_shown_only_when_asked_for(self):
        shown, whole = (subprocess.run([TRAPLINE, "race", "-q", option, "--", "sleep", "0.1"],
                                       capture_output=True, text=True, check=True).stderr
                        for option in ("--stats", "--stats=all"))
        self.assertRegex(shown, r"(?m)^processes:\n +1  processes ")
        self.assertNotRegex(shown, r"(?m)^ *0  ")
        self.assertRegex(whole, r"(?m)^ *0  hits-lost ")

    def test_whatever_is_counted_is_shown(self):
        whole = subprocess.run([TRAPLINE, "race", "-q", "--stats=all", "--", "sleep", "0.1"], capture_output=True,
                               text=True, check=True).stderr
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "src")
        for table, prefix in (("program/counts.def", "COUNT"), ("session/statistics.def", "SYMBOL_STATISTIC")):
            with open(os.path.join(source, table), encoding="utf-8") as file:
                rows = re.findall(r'^[A-Z]+\((\w+), "([\w-]+)"', file.read(), re.M)
            self.assertGreater(len(rows), 15)
            code = subprocess.run(["grep", "-rhoE", prefix + r"_\w+", "--include=*.[ch]", source], capture_output=True,
                                  text=True, check=True).stdout.split()
            for identifier, name in rows:
                self.assertRegex(whole, rf"(?m)^ +\d+  {name} ")
                self.assertIn(f"{prefix}_{identifier}", code, "nothing counts it")


if __name__ == "__main__":
    if subprocess.run([TRAPLINE, "doctor"], capture_output=True, check=False).returncode:
        print("skipped: `trapline doctor` says that it cannot work here")
        sys.exit(1 if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") == "1" else 77)
    unittest.main(argv=sys.argv[:1])
