# SPDX-License-Identifier: Apache-2.0
"""trapline throttle: programs get their share and not more, whatever they do.

usage: throttle_command.py TRAPLINE BUSY

CPU time is compared with the time that passed by the program's own clocks, less what it waited for a
processor, so that other load on the machine does not matter. Bounds are wide here; bench/throttle
measures how near a share comes."""
import json
import os
import signal
import subprocess
import sys
import unittest

TRAPLINE, BUSY = sys.argv[1:3]
BURST = 0.05  # seconds of the budget, the default
# What is used before the last look and not yet paid for at the end, in seconds of CPU time. A virtual
# machine's processor may be away for so long, which its clocks take for use.
END = 0.05


def throttle(*arguments, **keywords):
    return subprocess.run([TRAPLINE, "throttle", *arguments], capture_output=True, text=True,
                          timeout=60, check=False, **keywords)


def total(lines):
    return {key: sum(line[key] for line in lines) for key in ("elapsed", "cpu", "waited")}


def busy(limit, seconds, *what):
    done = throttle(*limit, "--stats", "--", BUSY, str(seconds), *what)
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def count(stats, name):
    for line in stats.splitlines():
        fields = line.split()
        if len(fields) > 1 and fields[1] == name and fields[0].isdigit():
            return int(fields[0])
    raise AssertionError(f"no count {name} in {stats}")


class Shares(unittest.TestCase):
    def check_share(self, share, got, threads=1, least=0.85):
        """Never more than was earned; no less than the machine allowed."""
        slack = share * BURST + 0.004 * threads + END
        self.assertLessEqual(got["cpu"], share * got["elapsed"] * 1.01 + slack, (share, got))
        if least:
            free = got["elapsed"] - got["waited"]
            self.assertGreaterEqual(got["cpu"], least * share * free - slack, (share, got))

    def test_shares(self):
        for percent in (5, 25, 60, 95):
            lines, stats = busy(["--cpu", f"{percent}%"], 1, "spin")
            self.check_share(percent / 100, total(lines))
            if percent < 10:
                self.assertGreater(count(stats, "thread-pauses"), 0)

    def test_sleeps(self):
        # It wants half a CPU at most.
        self.check_share(0.25, total(busy(["--cpu", "25"], 1, "sleep")[0]))

    def test_blocks_signals(self):
        lines, stats = busy(["--cpu", "25%"], 1, "block")
        self.check_share(0.25, total(lines))
        self.assertEqual(count(stats, "looks-late"), 0)

    def test_threads_share_one_budget(self):
        self.check_share(0.4, total(busy(["--cpu", "40%"], 1, "spin", "4")[0]), threads=4,
                         least=0)

    def test_each_thread_its_own(self):
        got = total(busy(["--cpu", "20%", "--per", "thread"], 1, "spin", "3")[0])
        self.assertLessEqual(got["cpu"], 0.6 * (got["elapsed"] + BURST) * 1.01 + END)
        # More than one thread's share: they do not share it.
        if got["waited"] < 0.2 * got["elapsed"]:
            self.assertGreater(got["cpu"], 0.3 * got["elapsed"])

    def test_children_share_it(self):
        self.check_share(0.25, total(busy(["--cpu", "25%"], 1.2, "fork")[0]), least=0)

    def test_short_children_pay_too(self):
        # The kernel does not count the very end of a process: a tenth, when that is all it does.
        self.check_share(0.2, total(busy(["--cpu", "20%"], 1.2, "short")[0]), least=0, threads=15)

    def test_others_pay_for_a_child_that_cannot_be_limited(self):
        self.check_share(0.25, total(busy(["--cpu", "25%"], 2, "raw")[0]), least=0)

    def test_names(self):
        done = throttle("--cpu", "10%", "--threads", "compress*", "--", BUSY, "1", "names")
        got = json.loads(done.stdout)
        self.assertLessEqual(got["compress"], 0.1 * (got["elapsed"] + BURST) + END, got)
        self.assertGreater(got["front"], 0.7 * (got["elapsed"] - got["front_waited"]), got)

    def test_two_groups(self):
        done = throttle("--cpu", "10%", "--threads", "compress*", "--and", "--cpu", "30%",
                        "--threads", "front", "--", BUSY, "1", "names")
        got = json.loads(done.stdout)
        self.assertLessEqual(got["compress"], 0.1 * (got["elapsed"] + BURST) + END, got)
        self.assertLessEqual(got["front"], 0.3 * (got["elapsed"] + BURST) + END, got)

    def test_handlers_run_while_it_pauses(self):
        lines, _ = busy(["--cpu", "2%"], 1.5, "alarm")
        handled = lines.pop()
        # Each jump leaves a pause early; the next look is a period, 0.4 ms, later.
        self.check_share(0.02, total(lines), least=0, threads=1 + handled["jumps"] / 10)
        # It runs 2 % of the time: almost all of some 150 came while it paused.
        self.assertGreater(handled["alarms"], 40, handled)
        self.assertGreater(handled["jumps"], 10, handled)

    def test_a_filter_ends_it_and_is_told(self):
        _, stats = busy(["--cpu", "25%"], 1, "filter")
        self.assertGreater(count(stats, "looks-filtered"), 0)


class Changes(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        self.runner = subprocess.Popen([TRAPLINE, "throttle", "--cpu", "10%", "--", BUSY, "30"],
                                       stdout=subprocess.PIPE, text=True)

    def tearDown(self):
        self.runner.send_signal(signal.SIGTERM)
        self.runner.communicate(timeout=20)

    def line(self):
        return json.loads(self.runner.stdout.readline())

    def program(self):
        path = f"/proc/{self.runner.pid}/task/{self.runner.pid}/children"
        with open(path, encoding="ascii") as children:
            return children.read().split()[0]

    def change(self, pid, *arguments):
        return throttle("-p", str(pid), *arguments)

    def test_budget_of_a_running_program(self):
        first = self.line()
        self.assertLess(first["cpu"], 0.1 * first["elapsed"] + END)
        self.assertEqual(self.change(self.runner.pid, "--cpu", "70%").returncode, 0)
        self.line()
        after = self.line()
        self.assertLess(after["cpu"], 0.7 * after["elapsed"] + END + 0.035)
        self.assertGreater(after["cpu"], 0.5 * (after["elapsed"] - after["waited"]))
        # Back down, by the program's own number, and with a debt of the new rate only.
        self.assertEqual(self.change(self.program(), "--cpu", "5%").returncode, 0)
        self.line()
        low = self.line()
        self.assertLess(low["cpu"], 0.05 * low["elapsed"] + END)
        shown = self.change(self.program())
        self.assertIn("5%", shown.stdout)
        self.assertEqual(shown.stdout.count("\n"), 2)

    def test_end_and_begin_again(self):
        self.line()
        self.assertEqual(self.change(self.runner.pid, "--cpu", "off").returncode, 0)
        self.line()
        free = self.line()
        self.assertGreater(free["cpu"], 0.6 * (free["elapsed"] - free["waited"]))
        self.assertEqual(self.change(self.runner.pid, "--cpu", "10%").returncode, 0)
        self.line()
        again = self.line()
        self.assertLess(again["cpu"], 0.1 * again["elapsed"] + END)
        # What it had used before is not charged: it would not have run at all.
        self.assertGreater(again["cpu"], 0)

    def test_limit_of_another_counter_is_added(self):
        self.line()
        self.assertEqual(self.change(self.runner.pid, "--faults", "100/s").returncode, 0)
        self.assertIn("faults", self.change(self.runner.pid).stdout)


class Refusals(unittest.TestCase):
    def check(self, status, text, *arguments):
        done = throttle(*arguments)
        self.assertEqual(done.returncode, status, done)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_command_line(self):
        self.check(2, "percentage", "--cpu", "0", "--", "true")
        self.check(2, "percentage", "--cpu", "x", "--", "true")
        self.check(2, "a second", "--faults", "-1", "--", "true")
        self.check(2, "switches cannot be limited", "--limit", "switches=1/s", "--", "true")
        self.check(2, "COUNTER=N/s", "--limit", "cycles", "--", "true")
        self.check(2, "which limit", "--", "true")
        self.check(2, "which limit", "--threads", "a*", "--", "true")
        self.check(2, "which program", "--cpu", "5%")
        self.check(2, "not both", "--cpu", "5%", "-p", "1", "--", "true")
        self.check(2, "with -p", "--cpu", "off", "--", "true")
        self.check(2, "with -p", "--cpu", "5%", "--duration", "1", "--", "true")
        self.check(2, "a number of seconds", "--cpu", "5%", "--duration", "1s", "-p", "1")
        self.check(2, "tree, process or thread", "--per", "cpu", "--", "true")
        self.check(2, "a time", "--cpu", "5%", "--burst", "7", "--", "true")
        self.check(2, "put --and", "--cpu", "5%", "--faults", "7", "--burst", "7", "--", "true")

    def test_processes(self):
        # One that was not started under trapline is entered, unless that could harm it.
        ignoring = "import signal, time; signal.signal(signal.SIGTRAP, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
        with subprocess.Popen([sys.executable, "-c", ignoring], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            self.check(1, "ignores SIGTRAP", "-p", str(process.pid), "--cpu", "5%")
            process.kill()
        self.check(1, "no such process", "-p", str(2 ** 22))
        self.check(2, "is not the number of a process", "-p", str(2 ** 22 + 5))

    def test_programs(self):
        self.check(127, "cannot be run", "--cpu", "5%", "--", "/nonexistent")


class Statuses(unittest.TestCase):
    def test_the_programs_own(self):
        self.assertEqual(throttle("--cpu", "50%", "--", "sh", "-c", "exit 7").returncode, 7)
        done = throttle("--cpu", "50%", "--", "sh", "-c", "kill -9 $$")
        self.assertEqual(done.returncode, -9)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
