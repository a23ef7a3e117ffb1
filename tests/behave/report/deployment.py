#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/FLEET.md deploys, under its restrictions: another user, no capability, the system call
filter of the drop-in and that of a container. The machine can do the main job so; without perf_event_open it cannot, and says so; findings
are written and merged; and, where the command is there, a race is found, whole.

usage: tests/behave/report/deployment.py build/trapline build/tests/behave/report/restricted"""
import errno
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

RESTRICTED = os.path.abspath(sys.argv.pop(2))

import sample  # pylint: disable=wrong-import-position
from sample import ROOT, finding, write  # pylint: disable=wrong-import-position

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from reachable import reachable  # pylint: disable=wrong-import-position

TRAPLINE = reachable(sample.TRAPLINE)[0]

RACER = """
#include <pthread.h>
#include <string.h>
#include <time.h>
static char shared[16];
static void *work(void *end)
{
	while (time(NULL) < *(time_t *)end)
		for (int i = 0; i < 1000; i++) {
			memset(shared, i, sizeof(shared));
			__asm__ volatile("" ::: "memory");
		}
	return NULL;
}
int main(void)
{
	time_t end = time(NULL) + 15;
	pthread_t thread;
	pthread_create(&thread, NULL, work, &end);
	work(&end);
	return pthread_join(thread, NULL);
}
"""

COUNTED = """
#include <pthread.h>
#include <time.h>
static volatile int counted;
__attribute__((noinline)) static void count(void)
{
	counted++;
}
static void *work(void *unused)
{
	struct timespec start, now;
	for (int i = 0; i < 100; i++)
		count();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 500);
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, work, 0);
	return pthread_join(thread, 0);
}
"""


def has_command(name):
    with open(os.path.join(ROOT, "cli", "commands.def"), encoding="utf-8") as lines:
        return re.search(rf"^COMMAND\({name},", lines.read(), re.M)


class Deployment:
    """What must hold under either filter."""
    filter = None

    def restricted(self, *command):
        return subprocess.run([RESTRICTED, self.filter, *command], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=120, cwd="/")

    def error_of(self, function, *arguments):
        """What a function of the C library fails with there."""
        text = (f"import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
                f"print(ctypes.get_errno() if libc.{function}{(*arguments,)} == -1 else 0)")
        return int(self.restricted("python3", "-c", text).stdout)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(self.folder.cleanup)
        os.chmod(self.folder.name, 0o777)
        self.path = lambda name: os.path.join(self.folder.name, name)

    def test_the_restrictions_hold(self):
        status = self.restricted("cat", "/proc/self/status").stdout
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertRegex(status, rf"{name}:\t0+\n")
        self.assertRegex(status, r"NoNewPrivs:\t1\n")
        self.assertRegex(status, r"Seccomp:\t2\n")

    def test_the_main_job_is_possible(self):
        plain = subprocess.run([TRAPLINE, "doctor"], capture_output=True, check=False, timeout=120)
        if plain.returncode:
            self.skipTest("this machine cannot do it without restrictions either")
        result = self.restricted(TRAPLINE, "doctor")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_without_perf_events_it_says_so(self):
        result = self.restricted("--deny-perf", TRAPLINE, "doctor")
        self.assertEqual(result.returncode, 1)
        self.assertIn("seccomp", result.stdout)

    def test_findings_are_merged(self):
        source = write(self.path("in.jsonl"), [finding(1)])
        os.chmod(source, 0o644)
        for _ in range(2):
            result = self.restricted(TRAPLINE, "report", "--store", self.path("fleet.db"), source)
            self.assertEqual(result.returncode, 0, result.stderr)
        result = self.restricted(TRAPLINE, "report", "--store", self.path("fleet.db"), "--format", "jsonl")
        self.assertEqual(json.loads(result.stdout)["count"], 1)

    def build(self, text):
        with open(self.path("program.c"), "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["gcc", "-g", "-O1", "-pthread", "-o", self.path("program"), self.path("program.c")],
                       check=True)
        return self.path("program")

    def test_every_hit_is_counted_with_its_callers(self):
        result = self.restricted(TRAPLINE, "watch", "counted:w", "--stack", "--", self.build(COUNTED))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("counted:w: 100 hits\n", result.stderr)
        self.assertEqual(len(re.findall(r"#1 .*work", result.stderr)), 100, result.stderr)

    def test_a_thread_is_paused(self):
        """Half a second of CPU time at a quarter of one CPU takes two, less what may be used at once."""
        result = self.restricted(TRAPLINE, "throttle", "--cpu", "25%", "--stats", "--", self.build(COUNTED))
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = {name: int(count) for count, name in re.findall(r"^ *(\d+)  ([a-z-]+)", result.stderr, re.M)}
        self.assertGreater(counts["thread-pauses"], 0, result.stderr)
        self.assertEqual(counts["looks-filtered"], 0, result.stderr)

    @unittest.skipUnless(has_command("race"), "there is no trapline race yet")
    def test_a_race_is_found(self):
        result = self.restricted(TRAPLINE, "race", "--stats", "-o", self.path("race.jsonl"), "--", self.build(RACER))
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("race.jsonl"), encoding="utf-8") as file:
            races = [line for line in map(json.loads, file) if line["kind"] == "data-race"]
        self.assertTrue(races, result.stderr)
        # Whoever may make no system call in a handler knows neither thread nor callers.
        for access in races[0]["accesses"]:
            self.assertEqual(access["thread"], "program")
            self.assertGreater(access["tid"], 0)
            self.assertGreater(len(access["stack"]), 1)


class Service(Deployment, unittest.TestCase):
    """The drop-in for systemd."""
    filter = "service"

    def test_ptrace_is_refused(self):
        self.assertEqual(self.error_of("ptrace", 0, 0, 0, 0), errno.EPERM)
        self.assertEqual(self.error_of("process_vm_readv", 0, 0, 0, 0, 0, 0), 0)


class Container(Deployment, unittest.TestCase):
    """A container runtime's default profile, with perf_event_open added."""
    filter = "container"

    def test_the_rules_are_a_containers(self):
        self.assertEqual(self.error_of("unshare", 0x10000000), errno.EPERM)
        self.assertEqual(self.error_of("personality", 0x0040000), errno.EPERM)
        self.assertEqual(self.error_of("personality", 0xffffffff), 0)
        self.assertEqual(self.error_of("ptrace", 0, 0, 0, 0), 0)


if __name__ == "__main__":
    unittest.main()
