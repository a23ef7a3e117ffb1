#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trapline doctor`: what it says agrees with the machine, also where something is withheld.

usage: tests/cli/doctor.py build/trapline build/tests/cli/deprived"""
import errno
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import unittest

TRAPLINE, DEPRIVED = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
PERF_EVENT_OPEN, PROCESS_VM_READV, MEMBARRIER, PRCTL, ALARM, FUTEX = 298, 310, 324, 157, 37, 202  # x86-64
FORBIDDEN = {"sched_setattr": 314, "setpriority": 141, "capset": 126, "seccomp": 317, "pidfd_getfd": 438,
             "userfaultfd": 323, "openat2": 437, "tgkill": 234, "setsid": 112, "socketpair": 53, "eventfd2": 290}
SKIP = 77


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)


def doctor(*wrapper, options=("--json",)):
    return run(*wrapper, TRAPLINE, "doctor", *options)


def checks(result):
    return {check["name"]: check for check in json.loads(result.stdout)["checks"]}


def machine_works():
    return doctor().returncode == 0


class Doctor(unittest.TestCase):
    def test_json_and_exit_status_agree(self):
        result = doctor()
        report = json.loads(result.stdout)
        required = [check for check in report["checks"] if check["required"]]
        works = all(check["status"] != "missing" for check in required)
        self.assertEqual(report["main_job"], works)
        self.assertEqual(result.returncode, 0 if works else 1)
        self.assertEqual(report["kernel"], platform.release())
        self.assertEqual(result.stderr, "")

    def test_prices_are_told_where_there_is_something_to_pay_for(self):
        report = json.loads(doctor().stdout)
        self.assertEqual("prices" in report, report["main_job"])
        if report["main_job"]:
            self.assertEqual(set(report["prices"]), {"hit_ns", "wakeup_ns", "sample_ns"})
            self.assertGreater(report["prices"]["hit_ns"], 0)
            self.assertRegex(doctor(options=()).stdout, r"µs  a hit, beside its handler: \d+ a second")

    def test_what_is_missing_comes_with_advice(self):
        for check in checks(doctor()).values():
            self.assertIn(check["status"], ("works", "limited", "missing"))
            self.assertTrue(check["detail"], check)
            if check["status"] == "missing":
                self.assertTrue(check["advice"], check)

    def test_protection_keys_as_the_kernel_lists_them(self):
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            has_keys = " ospke" in info.read()
        self.assertEqual(checks(doctor())["regions"]["status"], "works" if has_keys else "missing")

    def test_table_has_a_row_for_each_check(self):
        table = doctor(options=()).stdout
        for name in checks(doctor()):
            self.assertIn(f" {name} ", table)

    def test_seccomp_that_refuses(self):
        for err in (errno.EPERM, errno.EACCES, errno.ENOSYS):
            result = doctor(DEPRIVED, str(PERF_EVENT_OPEN), str(err))
            self.assertEqual(result.returncode, 1)
            permission = checks(result)["perf-events"]
            self.assertEqual(permission["status"], "missing")
            self.assertIn("a seccomp filter refused", permission["detail"])
            for words in ("docker", "CAP_PERFMON", "--security-opt seccomp=", "allow-perf", "SystemCallFilter="):
                self.assertIn(words, permission["advice"])

    def test_commands_under_seccomp_that_refuses_say_what_to_add(self):
        """As docker's profile without CAP_PERFMON."""
        for err in (errno.EPERM, errno.ENOSYS):
            for words, status in ((("race", "-q", "--"), 5), (("watch", "environ", "--"), 5), (("throttle", "--cpu", "50%", "--"), 1)):
                result = run(DEPRIVED, str(PERF_EVENT_OPEN), str(err), TRAPLINE, *words, "sh", "-c", "sleep 0.3; exit 5")
                self.assertEqual((result.returncode, result.stdout), (status, ""), (words, result.stderr))
                self.assertIn("a seccomp filter refuses perf_event_open(2)", result.stderr, words)
                self.assertIn("--cap-add=PERFMON", result.stderr, words)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_a_filter_that_lets_it_pass_is_not_blamed(self):
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            paranoid = int(file.read())
        if os.geteuid() != 0:
            self.skipTest("needs root, to drop it")
        if paranoid > 2:
            return  # nothing may be opened, and that is the reason
        result = doctor(DEPRIVED, str(MEMBARRIER), str(errno.ENOSYS), "setpriv", "--reuid", "65534", "--regid", "65534",
                        "--clear-groups")
        self.assertNotIn("seccomp", checks(result)["kernel-accesses"]["advice"])

    def test_what_stands_in_the_way_is_named_once(self):
        table = doctor(DEPRIVED, str(PERF_EVENT_OPEN), str(errno.EPERM), options=()).stdout
        self.assertRegex(table, r"cannot work here without what is missing: perf-events, write-watchpoint, ")
        self.assertNotIn("MISSING", table)
        self.assertEqual(table.count("--cap-add=PERFMON"), 1, table)

    def test_seccomp_on_the_rest(self):
        denied = checks(doctor(DEPRIVED, str(PROCESS_VM_READV), str(errno.EPERM)))
        self.assertEqual(denied["memory"]["status"], "missing")
        denied = checks(doctor(DEPRIVED, str(MEMBARRIER), str(errno.ENOSYS)))
        self.assertEqual(denied["membarrier"]["status"], "missing")

    def test_seccomp_that_kills(self):
        """Tried in a child: nothing of ours dies of it, and the program runs all the same."""
        for call, name in ((PERF_EVENT_OPEN, "perf_event_open"), (PROCESS_VM_READV, "process_vm_readv"),
                           (PRCTL, "prctl"), (ALARM, "alarm"), (FUTEX, "futex")):
            wrapper = (DEPRIVED, str(call), "0", TRAPLINE)
            told = f"kills whoever calls {name}"
            self.assertIn(f"kills for {name}", checks(doctor(*wrapper[:3]))["perf-events"]["detail"])
            for command, status in ((("race", "--"), 5), (("watch", "x", "--"), 5), (("throttle", "--cpu", "50%", "--"), 1)):
                result = run(*wrapper, *command, "sh", "-c", "exit 5")
                self.assertEqual((result.returncode, result.stdout), (status, ""), command)
                self.assertIn(told, result.stderr)
            result = run(*wrapper, "watch", "x", "-p", str(os.getpid()))
            self.assertEqual((result.returncode, told in result.stderr), (1, True), result)

    def test_calls_that_kill_end_nobody(self):
        """What systemd's @system-service, @privileged and @resources and containers' profiles leave out, and what
        trapline makes at its start: the program runs as it does bare, and no core file lies about."""
        with tempfile.TemporaryDirectory() as folder:
            for number in FORBIDDEN.values():
                for command in (("race",), ("race", "--beside"), ("heap",)):
                    result = subprocess.run(
                        [DEPRIVED, str(number), "0", TRAPLINE, *command, "-q", "--", "sh", "-c", "echo out; exit 5"],
                        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False, cwd=folder,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (
                            resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2))
                    self.assertEqual((result.returncode, result.stdout, os.listdir(folder)), (5, "out\n", []),
                                     (number, command, result.stderr))

    def test_what_is_not_needed_may_be_forbidden(self):
        if not machine_works():
            self.skipTest("nothing can be watched here")
        for name in ("sched_setattr", "setpriority", "capset", "seccomp", "pidfd_getfd"):
            result = run(DEPRIVED, str(FORBIDDEN[name]), "0", TRAPLINE, "race", "--stats", "--", "sh", "-c", "exit 5")
            self.assertEqual(result.returncode, 5)
            self.assertRegex(result.stderr, r"\d +processes ", "it was watched")
            self.assertEqual(" promptness-forbidden " in result.stderr, name in ("sched_setattr", "setpriority"))

    def test_slots_that_are_taken(self):
        if not machine_works():
            self.skipTest("no slots here")
        result = doctor(DEPRIVED, "slots", "4")
        self.assertEqual(result.returncode, 1)
        slots = checks(result)["slots"]
        self.assertEqual(slots["status"], "missing")
        self.assertIn("4 perf events", slots["advice"])
        result = doctor(DEPRIVED, "slots", "2")
        self.assertEqual((result.returncode, checks(result)["slots"]["status"]), (0, "limited"))

    def test_without_privilege(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to drop it")
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            paranoid = int(file.read())
        result = doctor("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        if paranoid <= 2:
            self.assertEqual(result.returncode, 0 if machine_works() else 1)
        if paranoid >= 2:
            self.assertEqual(checks(result)["kernel-accesses"]["status"], "missing")

    def test_hardware_is_there_where_it_is_required(self):
        if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") != "1":
            self.skipTest("TRAPLINE_REQUIRE_HARDWARE is not 1")
        self.assertTrue(machine_works(), doctor(options=()).stdout)

    def test_unknown_option(self):
        result = doctor(options=("--jsno",))
        self.assertEqual((result.returncode, result.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main()
