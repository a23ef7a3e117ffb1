# SPDX-License-Identifier: Apache-2.0
"""Programs that run already, and static ones: what is found in them, what is refused, and that nothing
remains.

usage: attach.py TRAPLINE SUBJECT SUBJECT_STATIC SUBJECT_LIKE_GO CHAINED.so [TEST…]"""
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import shares  # pylint: disable=wrong-import-position

TRAPLINE, SUBJECT, STATIC, LIKE_GO, CHAINED = sys.argv[1:6]
TRIES = 4  # of what is up to chance: whether a race is met within some seconds


class Subject:
    """A program that runs; its last words say whether anybody disturbed it."""

    def __init__(self, *arguments, program=SUBJECT, ready=True, **keywords):
        self.process = subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE, text=True, **keywords)
        self.pid = self.process.pid
        if ready:
            assert self.process.stdout.readline() == "ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def last_words(self):
        words = self.process.stdout.read().split("\n")[-2:]
        return words[0], self.process.wait()

    def status(self, *names):
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as file:
            return [line for line in file if line.split(":")[0] in names]

    def traces(self):
        """What would tell that somebody is or was there."""
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as file:
            # The heap and the stacks of threads that come and go are the program's own affair.
            maps = [line.split()[-1] + line.split()[1] for line in file if "trapline" in line or "r-xp" in line]
        return (sorted(maps), self.status("SigCgt", "SigIgn", "TracerPid", "Seccomp"),
                sorted(os.listdir(f"/proc/{self.pid}/fd")))


def trapline(*arguments, timeout=60, **keywords):
    return subprocess.run([TRAPLINE, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          check=False, **keywords)


def maps_of(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        return file.read()


def cpu_time(pid):
    """Of all its threads, in seconds."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def machine_works():
    return trapline("doctor", "--json").returncode == 0


def races(output):
    with open(output, encoding="utf-8") as file:
        return [finding for finding in map(json.loads, file) if finding["class"] != "possible"]


def finds(*arguments):
    """The variables with races, by as many runs as it takes."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.jsonl")
        done = trapline("race", "-q", "-o", output, *arguments)
        return {finding["object"]["name"] for finding in races(output)}, done


class Found(unittest.TestCase):
    def check_race(self, program):
        for _ in range(TRIES):
            with Subject("race", 4, program=program) as subject:
                found, done = finds("-p", subject.pid, "--duration", 3)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertLessEqual(found, {"racy"})
                self.assertEqual(subject.last_words(), ("ok", 0))
            if found:
                return
        self.fail("the race was not found")

    def test_running(self):
        self.check_race(SUBJECT)

    def test_running_static(self):
        self.check_race(STATIC)

    def test_static_from_its_start(self):
        for _ in range(TRIES):
            found, done = finds("--", STATIC, "race", 3)
            self.assertIn("ok", done.stdout)
            self.assertLessEqual(found, {"racy"})
            if found:
                return
        self.fail("the race was not found")

    def test_children_that_run_already(self):
        """Also of a process that is refused itself."""
        for _ in range(TRIES):
            with Subject("master", 5) as subject:
                time.sleep(0.2)
                with open(f"/proc/{subject.pid}/task/{subject.pid}/children", encoding="ascii") as file:
                    children = file.read().split()
                self.assertEqual(len(children), 2)
                found, done = finds("-p", subject.pid, "--stats=all", "--duration", 3)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("its children are watched", done.stderr)
                self.assertRegex(done.stderr, r"\b2 +entered\b")
                self.assertEqual(trapline("race", "--no-follow", "-p", subject.pid).returncode, 1)
                self.assertEqual(subject.last_words(), ("ok", 0))
            if found:
                return
        self.fail("the race was not found")

    def test_children_are_sampled(self):
        """Those that were there before, too, which inherit no clock from the process that is sampled first: also
        where clocks stay open, as they always do with --aggressive. Each half a millisecond of CPU time is one."""
        with Subject("server", 250) as subject:
            with open(f"/proc/{subject.pid}/task/{subject.pid}/children", encoding="ascii") as file:
                child = int(file.read())
            with subprocess.Popen([TRAPLINE, "race", "--aggressive", "-p", str(subject.pid), "--stats=all"],
                                  stderr=subprocess.PIPE, text=True) as watcher:
                while "trapline" not in maps_of(child):
                    self.assertIsNone(watcher.poll())
                    time.sleep(0.02)
                # However little of a busy machine it gets.
                until = cpu_time(child) + 0.3
                while cpu_time(child) < until:
                    time.sleep(0.02)
                watcher.send_signal(signal.SIGINT)
                told = watcher.communicate(timeout=60)[1]
            self.assertEqual(watcher.returncode, 0, told)
            self.assertGreater(int(re.search(r"(\d+) +samples\b", told)[1]), 100, told)
            os.kill(child, signal.SIGUSR1)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_child_that_never_sleeps(self):
        """It is forked meanwhile, and whether it takes SIGTRAP is known when it has run for a while."""
        code = ("import os, time; print('ready', flush=True); time.sleep(1)\n"
                "until = time.monotonic() + 4\n"
                "child = os.fork()\n"
                "while child == 0 and time.monotonic() < until: pass\n"
                "if child: print('ok' if os.waitpid(child, 0)[1] == 0 else 'wrong')")
        with Subject("-c", code, program=sys.executable) as subject:
            done = trapline("race", "-p", subject.pid, "--stats=all", "--duration", 4)
            self.assertEqual(done.returncode, 0, done.stderr)
            for count in "2 +entered", "2 +processes", "0 +processes-left":
                self.assertRegex(done.stderr, rf"\b{count}\b(?!-)")
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_silent(self):
        with Subject("sleep", 3) as subject:
            found, done = finds("-p", subject.pid, "--duration", 2)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(found, set())
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "attach_by_name")
            os.symlink(os.path.abspath(SUBJECT), name)
            with Subject("work", 3, program=name) as subject:
                done = trapline("race", "-p", "attach_by_name", "--duration", 1)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(subject.last_words(), ("ok", 0))
        for command in ["race"], ["watch", "racy:w"], ["throttle", "--cpu", "90%"], ["patch", "--list"]:
            done = trapline(*command, "-p", "attach_by_name")
            self.assertEqual(done.returncode, 1, done.stderr)  # as where there is no process of a number
            self.assertIn("no process is named", done.stderr)

    def test_server_by_name(self):
        """Its workers have its name too."""
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "attach_server")
            os.symlink(os.path.abspath(SUBJECT), name)
            with Subject("master", 3, program=name) as subject:
                time.sleep(0.2)
                done = trapline("race", "-p", "attach_server", "--stats=all", "--duration", 0.5)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, r"\b2 +entered\b")
                self.assertEqual(subject.last_words(), ("ok", 0))


class Blind(unittest.TestCase):
    """No library stands before a static program's malloc(), and that is said."""

    def check(self, *line):
        done = trapline(*line, "--", STATIC, "sleep", 0.2)
        self.assertEqual((done.stdout.splitlines(), done.returncode), (["ready", "ok"], 0), done.stderr)
        return done.stderr.splitlines()

    def test_alone(self):
        for command in ["uninit"], ["flow", "unread"]:
            told = self.check(*command)
            self.assertEqual(len(told), 1, told)
            self.assertRegex(told[0], "is statically linked, .* sees none of its blocks .*; running it bare")

    def test_beside_another(self):
        told = self.check("run", "-q", "--tool", "race,uninit")
        self.assertRegex(told[0], "is statically linked, .* uninit sees none of its blocks without one$")


def hits_counted(told):
    """What came faster than it could be noted is told, and the kernel's count is exact either way."""
    counted = re.search(r"the kernel counted (\d+)", told) or re.search(r": (\d+) hits", told)
    return int(counted.group(1)) if counted else 0


class Exact(unittest.TestCase):
    def check(self, program, threads, writes):
        with Subject("count", 30, threads, writes, program=program) as subject:
            watcher = subprocess.Popen([TRAPLINE, "watch", "counted:w", "--count", "-p", str(subject.pid)],
                                       stderr=subprocess.PIPE, text=True)
            self.assertIn("is watched", watcher.stderr.readline())
            time.sleep(0.3)
            os.kill(subject.pid, signal.SIGUSR1)
            self.assertEqual(subject.process.stdout.readline(), "counted\n")
            watcher.send_signal(signal.SIGINT)
            told = watcher.communicate(timeout=30)[1]
        self.assertEqual(hits_counted(told), threads * writes, told)

    def test_threads_that_come_and_go(self):
        for threads, writes in ((1, 3000), (16, 200), (300, 10)):
            self.check(SUBJECT, threads, writes)

    def test_static(self):
        self.check(STATIC, 16, 100)

    def test_static_from_its_start(self):
        for threads, writes in ((1, 2000), (16, 100), (300, 5)):
            done = trapline("watch", "counted:w", "--count", "--", STATIC, "count", 1, threads, writes)
            self.assertEqual(hits_counted(done.stderr), threads * writes, done.stderr)

    def test_runtime_from_its_start(self):
        """It sets all actions as it begins, and does all its work at once then."""
        for _ in range(3):
            done = trapline("watch", "counted:w", "--count", "--", LIKE_GO, "count", 0, 16, 100)
            self.assertEqual(hits_counted(done.stderr), 1600, done.stderr)
            self.assertIn("ok", done.stdout)

    def test_silence_in_go_is_said(self):
        """Launched and by -p, of each tool that is silent there; of no other program, and by no other command."""
        said = r"(?m)^trapline: (\w+): \S+ is a program of Go: in Go's code .* nothing is reported there"
        for program, tools in ((LIKE_GO, ["race", "stack"]), (STATIC, [])):
            done = trapline("run", "-q", "--tool", "race,stack", "--", program, "count", 0, 1, 1)
            self.assertEqual(re.findall(said, done.stderr), tools, done.stderr)
            with Subject("some", 4, program=program) as subject:
                done = trapline("race", "-q", "-p", subject.pid, "--duration", 0.1)
                self.assertEqual(re.findall(said, done.stderr), tools[:1], done.stderr)
                done = trapline("throttle", "--cpu", "90%", "-p", subject.pid, "--duration", 0.1)
                self.assertNotIn("Go", done.stderr)


class Chained(unittest.TestCase):
    def test_a_held_thread_is_watched(self):
        """It blocks SIGTRAP while it is in our handler."""
        symbols = subprocess.run(["nm", STATIC], capture_output=True, text=True, check=True).stdout
        address = {name: re.search(rf"^([0-9a-f]+) [tb] {name}$", symbols, re.MULTILINE)[1] for name in ("now", "racy")}
        with Subject("some", 4, program=STATIC) as subject:
            done = trapline("run", "--tool", CHAINED, "--tool-option", "code=" + address["now"], "--tool-option",
                            "data=" + address["racy"], "-p", subject.pid, "--duration", 2)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", done.stderr)}
            self.assertGreater(seen["chained"], 3, done.stderr)
            self.assertEqual(seen["refused"], 0, done.stderr)
            self.assertGreaterEqual(seen["came"], seen["chained"] - 1, done.stderr)
            self.assertEqual(subject.last_words(), ("ok", 0))


class Contained(unittest.TestCase):
    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_files_of_its_own(self):
        """In a mount namespace where its path names it, and another file here: names come from its file."""
        for namespaces in ["--mount", "--pid", "--fork"], ["--mount", "--user", "--map-root-user", "--pid", "--fork"]:
            with self.subTest(namespaces), tempfile.TemporaryDirectory() as folder:
                if subprocess.run(["unshare", *namespaces, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
                    self.skipTest("namespaces cannot be made")
                path = os.path.join(folder, "contained")
                shutil.copy("/bin/true", path)
                inside = (f"mount -t tmpfs none {folder} && cp {os.path.abspath(SUBJECT)} {path} && "
                          f"exec {path} race 60")
                with Subject(*namespaces, "--kill-child", "sh", "-c", inside, program="unshare") as subject:
                    with open(f"/proc/{subject.pid}/task/{subject.pid}/children", encoding="ascii") as file:
                        pid = file.read().split()[0]
                    done = trapline("watch", "-p", pid, "racy:w", "--first", 1, "--exec", f"kill -INT $PPID")
                    self.assertRegex(done.stderr, r"write racy:w .* race subject.c:\d+")
                    self.check_race(pid)

    def check_race(self, pid):
        for _ in range(TRIES):
            found, done = finds("-p", pid, "--duration", 3)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLessEqual(found, {"racy"})
            if found:
                return
        self.fail("the race was not found")


class Untouched(unittest.TestCase):
    def test_nothing_remains(self):
        for program, what in ((SUBJECT, "work"), (STATIC, "sleep")):
            with Subject(what, 2, program=program) as subject:
                before = subject.traces()
                done = trapline("race", "-p", subject.pid, "--duration", 1)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(subject.traces(), before)
                self.assertEqual(subject.last_words(), ("ok", 0))

    def test_rounds(self):
        with Subject("work", 5) as subject:
            before = subject.traces()
            for _ in range(10):
                done = trapline("race", "-q", "-p", subject.pid, "--duration", 0.05)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(subject.traces(), before)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def attach_to_python(self, code, rounds):
        with Subject("-c", code, program=sys.executable) as subject:
            before = subject.traces()
            for _ in range(rounds):
                done = trapline("race", "-q", "--no-follow", "-p", subject.pid, "--duration", 0.05)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(subject.traces(), before)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_signal_that_threads_are_stopped_by(self):
        """Each of the program's own comes, also to a thread that stands for us."""
        self.attach_to_python(
            "import os, signal, time\n"
            "got, told, ends = 0, os.pipe(), os.pipe()\n"
            "def handle(*_):\n"
            "    global got\n"
            "    got += 1\n"
            "signal.signal(signal.SIGSTKFLT, handle)\n"
            "until, pid = time.monotonic() + 8, os.getpid()\n"
            "if os.fork() == 0:\n"
            "    os.close(told[1])\n"
            "    sent, more = 0, True\n"
            "    while more and time.monotonic() < until:\n"
            "        os.kill(pid, signal.SIGSTKFLT)\n"
            "        sent += 1\n"
            "        more = os.read(told[0], 1)\n"
            "    os.write(ends[1], b'%d' % sent)\n"
            "    os._exit(0)\n"
            "print('ready', flush=True)\n"
            "answered = 0\n"
            "while time.monotonic() < until:\n"
            "    if answered < got:\n"
            "        answered += 1\n"
            "        os.write(told[1], b'.')\n"
            "os.close(told[1])\n"
            "ended = os.wait()[1]\n"
            "print('ok' if ended == 0 and 0 < got == int(os.read(ends[0], 20)) else 'wrong')\n", 12)

    def test_no_room_for_what_signals_say(self):
        """The kernel keeps their numbers alone."""
        self.attach_to_python(
            "import resource, time\n"
            "resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))\n"
            "print('ready', flush=True)\n"
            "time.sleep(4)\n"
            "print('ok')\n", 3)

    def test_no_memory_for_the_handler(self):
        """Its data may not become writable: it is refused, and actions stay, that of a fault among them."""
        code = ("import resource, signal, time\n"
                "signal.signal(signal.SIGSEGV, lambda *_: None)\n"
                "resource.setrlimit(resource.RLIMIT_DATA, (4096, 4096))\n"
                "print('ready', flush=True)\n"
                "time.sleep(2)\n"
                "print('ok')\n")
        with Subject("-c", code, program=sys.executable) as subject:
            before = subject.traces()
            done = trapline("race", "-q", "--no-follow", "-p", subject.pid, "--duration", 0.05)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, "gets no memory for trapline's handler")
            self.assertEqual(subject.traces(), before)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_filter_without_that_signal(self):
        """tgkill(2), number 234, would kill it."""
        self.attach_to_python(
            "import ctypes, struct, time\n"
            "code = ctypes.create_string_buffer(b''.join(struct.pack('=HBBI', *line) for line in (\n"
            "    (0x20, 0, 0, 0), (0x15, 0, 1, 234), (6, 0, 0, 0x80000000), (6, 0, 0, 0x7fff0000))))\n"
            "program = struct.pack('=HxxxxxxQ', 4, ctypes.addressof(code))\n"
            "prctl = ctypes.CDLL(None).prctl\n"
            "assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0\n"
            "print('ready', flush=True)\n"
            "time.sleep(4)\n"
            "print('ok')\n", 3)

    def test_restartable_sequences(self):
        """A thread that was made to call something begins them anew."""
        with Subject("sections", 8) as subject:
            for _ in range(6):
                done = trapline("race", "-q", "-p", subject.pid, "--duration", 0.05)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_children_that_come_meanwhile(self):
        """Those forked once their parent was entered are entered already, and by nobody else."""
        with Subject("children", 16) as subject:
            until = time.monotonic() + 8  # a round may take long on a busy machine
            for _ in range(30):
                done = trapline("race", "-q", "-p", subject.pid, "--duration", 0.05)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                if time.monotonic() > until:
                    break
            self.assertEqual(subject.last_words(), ("ok", 0))

    def check_children(self, *options):
        with Subject("nursery", 12) as subject:
            done = trapline("race", "-p", subject.pid, "--stats=all", "--duration", 3, *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("keeps trapline's handler", done.stderr)
            for _ in range(50):
                with open(f"/proc/{subject.pid}/task/{subject.pid}/children", encoding="ascii") as file:
                    family = [subject.pid, *map(int, file.read().split())]
                if len(family) == 101:
                    break
                time.sleep(0.1)
            self.assertEqual(len(family), 101)
            kept = 0
            for pid in family:
                with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
                    kept += "trapline" in file.read()
                with open(f"/proc/{pid}/status", encoding="ascii") as file:
                    kept += int(re.search(r"SigCgt:\s+(\w+)", file.read())[1], 16) >> signal.SIGTRAP - 1 & 1
            self.assertEqual(kept, 0)
            self.assertEqual(subject.last_words(), ("ok", 0))
        return int(re.search(r"(\d+) +processes-unentered", done.stderr)[1])

    def test_children_not_followed(self):
        """They have their parent's memory, with what was put into it, whether they are watched or not."""
        self.check_children("--no-follow")

    def test_more_children_than_are_watched(self):
        """Those that found no room are counted, once each, and left like the others."""
        unentered = self.check_children()
        self.assertGreater(unentered, 0)
        self.assertLessEqual(unentered, 40)

    def test_killed(self):
        """The handler stays, lets everything pass, and is removed by the next that comes."""
        with Subject("race", 4) as subject:
            before = subject.traces()
            watcher = subprocess.Popen([TRAPLINE, "race", "-q", "-p", str(subject.pid)], stderr=subprocess.DEVNULL)
            while subject.traces() == before:
                time.sleep(0.02)
            busy = trapline("race", "-p", subject.pid, "--duration", 0.1)
            self.assertEqual(busy.returncode, 1)
            self.assertIn("watched by another trapline", busy.stderr)
            time.sleep(0.3)
            watcher.kill()
            watcher.wait()
            time.sleep(0.5)
            self.assertNotEqual(subject.traces(), before)
            done = trapline("race", "-q", "-p", subject.pid, "--duration", 0.5)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(subject.traces(), before)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_killed_at_any_moment(self):
        """Also while a thread is stopped: it goes on as it was, and the next that comes removes what is left."""
        for what in "sleep", "race":
            with self.subTest(what), Subject(what, 12) as subject:
                before = subject.traces()
                for _ in range(25):
                    watcher = subprocess.Popen([TRAPLINE, "race", "-q", "-p", str(subject.pid), "--duration", "0.1"],
                                               stderr=subprocess.DEVNULL)
                    time.sleep(random.uniform(0, 0.25))
                    watcher.kill()
                    watcher.wait()
                time.sleep(0.2)
                done = trapline("race", "-q", "-p", subject.pid, "--duration", 0.1)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(subject.traces(), before)
                self.assertEqual(subject.last_words(), ("ok", 0))

    def start_in(self, subject, **keywords):
        before = subject.traces()
        watcher = subprocess.Popen([TRAPLINE, "race", "-q", "-p", str(subject.pid)], stderr=subprocess.DEVNULL,
                                   **keywords)
        while subject.traces() == before:
            time.sleep(0.02)
        return watcher

    def test_what_ends_it(self):
        """The keyboard, the terminal's end, a reader of its output that has gone: it leaves the process first."""
        with Subject("work", 6) as subject:
            before = subject.traces()
            for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE:
                watcher = self.start_in(subject)
                watcher.send_signal(number)
                self.assertEqual(watcher.wait(timeout=30), 0, number)
                self.assertEqual(subject.traces(), before, number)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_hangup_ignored(self):
        """As under nohup."""
        with Subject("work", 3) as subject:
            watcher = self.start_in(subject, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
            watcher.send_signal(signal.SIGHUP)
            time.sleep(0.5)
            self.assertIsNone(watcher.poll())
            watcher.send_signal(signal.SIGINT)
            self.assertEqual(watcher.wait(timeout=30), 0)

    def test_left_while_it_starts_another(self):
        """Between vfork(2) and execve(2) nothing can be asked of it, and its child has its memory: all stays."""
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "fifo")
            os.mkfifo(fifo)
            code = ("import os, sys; print('ready', flush=True); sys.stdin.readline(); "
                    f"pid = os.posix_spawn('/bin/true', ['true'], {{}}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, {fifo!r}, "
                    "os.O_RDONLY, 0)]); status = os.waitpid(pid, 0)[1]; sys.stdin.readline(); "
                    "print('wrong' if status else 'ok')")
            with Subject("-c", code, program=sys.executable, stdin=subprocess.PIPE) as subject:
                self.leave_while_it_starts(subject, fifo)
                subject.process.stdin.close()
                self.assertEqual(subject.last_words(), ("ok", 0))

    def leave_while_it_starts(self, subject, fifo):
        def go_on():
            subject.process.stdin.write("\n")
            subject.process.stdin.flush()

        before = subject.traces()
        watcher = self.start_in(subject)
        go_on()
        try:
            for _ in range(100):
                with open(f"/proc/{subject.pid}/task/{subject.pid}/children", encoding="ascii") as file:
                    if file.read():
                        break
                time.sleep(0.02)
            meanwhile = subject.traces()
            watcher.send_signal(signal.SIGINT)
            self.assertEqual(watcher.wait(timeout=30), 0)
            self.assertEqual(subject.traces(), meanwhile)
        finally:  # it goes on, whatever came of it
            writer = os.open(fifo, os.O_RDWR)
        done = trapline("race", "-q", "-p", subject.pid, "--duration", 0.1)
        os.close(writer)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(subject.traces(), before)
        go_on()

    def test_own_handler(self):
        with Subject("trap", 2) as subject:
            before = subject.traces()
            done = trapline("race", "-q", "-p", subject.pid, "--duration", 1)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(subject.traces(), before)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_some_thread_blocks(self):
        """It waits for signals, and none of ours comes."""
        with Subject("some", 3) as subject:
            before = subject.traces()
            done = trapline("race", "-q", "-p", subject.pid, "--duration", 2)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(subject.traces(), before)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_all_blocked_without_a_cpu(self):
        """As a child just forked has it: it waits for a CPU, and is entered when it has had one."""
        with Subject("moment", 3) as subject:
            found, done = finds("-p", subject.pid, "--duration", 0.1)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(done.stderr, "(?m)^trapline: ")
            self.assertLessEqual(found, {"racy"})
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_small_signal_stacks(self):
        """Two threads have no room for a hit: none comes to them, and it is said. The others are watched."""
        for program in (SUBJECT, STATIC):
            with Subject("stacks", 4, program=program) as subject:
                before = subject.traces()
                found, done = finds("-p", subject.pid, "--stats=all", "--duration", 3)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("alternate stacks that leave no room", done.stderr)
                self.assertRegex(done.stderr, r"\b2 +threads-cramped\b")
                self.assertRegex(done.stderr, r"[1-9]\d* +watches\b")
                self.assertLessEqual(found, {"racy"})
                self.assertEqual(subject.traces(), before)
                self.assertEqual(subject.last_words(), ("ok", 0))

    def test_strict_meanwhile(self):
        """No call is made in its place any more: seccomp would kill it. The handler stays."""
        with Subject("late", 1) as subject:
            done = trapline("race", "-p", subject.pid, "--duration", 1.5)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("under seccomp", done.stderr)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_executes_meanwhile(self):
        """Nothing of ours is in the new program, and nothing of it is touched."""
        with Subject("execute", 1) as subject:
            done = trapline("race", "-p", subject.pid, "--duration", 2)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("has executed another program, which is not watched", done.stderr)
            self.assertNotIn("keeps trapline's handler", done.stderr)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_first_thread_ends_meanwhile(self):
        """Nothing can be asked of it any more. The handler stays, which is said."""
        with Subject("headless", 6) as subject:
            before = subject.traces()
            watcher = subprocess.Popen([TRAPLINE, "race", "-p", str(subject.pid)], stderr=subprocess.PIPE, text=True)
            while subject.traces() == before:
                time.sleep(0.02)
            os.kill(subject.pid, signal.SIGUSR1)
            time.sleep(0.5)
            watcher.send_signal(signal.SIGINT)
            told = watcher.communicate(timeout=30)[1]
            self.assertEqual(watcher.returncode, 0, told)
            self.assertRegex(told, r"first thread of process \d+ has ended before the others: it keeps")
            self.assertEqual(subject.process.wait(), 0)

    def test_limit(self):
        with Subject("work", 5) as subject:
            before = subject.traces()
            limiter = subprocess.Popen([TRAPLINE, "throttle", "--cpu", "5%", "-p", str(subject.pid), "--stats"],
                                       stderr=subprocess.PIPE, text=True)
            time.sleep(2)
            limiter.send_signal(signal.SIGINT)
            told = limiter.communicate(timeout=20)[1]
            self.assertRegex(told, r"[1-9]\d* +thread-pauses")
            self.assertEqual(subject.traces(), before)

    def test_limit_for_a_while(self):
        """It ends by itself, and nothing of it is left; meanwhile others may change it, but not for a while."""
        with Subject("work", 6) as subject:
            before = subject.traces()
            limiter = subprocess.Popen([TRAPLINE, "throttle", "--cpu", "5%", "-p", str(subject.pid), "--stats",
                                        "--duration", "2"], stderr=subprocess.PIPE, text=True)
            time.sleep(1)
            self.assertIsNone(limiter.poll())
            shown = trapline("throttle", "-p", subject.pid)
            self.assertIn("5%", shown.stdout)
            refused = trapline("throttle", "-p", subject.pid, "--cpu", "6%", "--duration", 1)
            self.assertEqual(refused.returncode, 1, refused)
            self.assertIn("leave out --duration", refused.stderr)
            told = limiter.communicate(timeout=20)[1]
            self.assertEqual(limiter.returncode, 0, told)
            self.assertRegex(told, r"[1-9]\d* +thread-pauses")
            self.assertEqual(subject.traces(), before)
            self.assertEqual(subject.last_words(), ("ok", 0))


def small_program():
    """An i386 ELF file whose one segment holds pause(2), for ever."""
    code = bytes.fromhex("b81d000000cd80ebf7")  # 1: mov $29, %eax; int $0x80; jmp 1b
    base, head = 0x8048000, 52 + 32
    return (struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, 3, 1, base + head, 52, 0, 0, 52, 32, 1, 40, 0, 0) +
            struct.pack("<IIIIIIII", 1, 0, base, base, head + len(code), head + len(code), 5, 4096) + code)


class Refused(unittest.TestCase):
    def check(self, pid, sentence, command=("race",), **keywords):
        duration = [] if command[0] == "patch" else ["--duration", 0.2]
        done = trapline(*command, "-p", pid, *duration, **keywords)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, sentence)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def check_subject(self, what, sentence):
        with Subject(what, 2) as subject:
            before = subject.traces()
            self.check(subject.pid, sentence)
            self.assertEqual(subject.traces(), before)
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_ignored(self):
        self.check_subject("ignore", "ignores SIGTRAP")

    def test_blocked(self):
        self.check_subject("block", "blocks SIGTRAP")

    def test_many_blocked(self):
        """They are looked at together: it takes no longer than for a few."""
        with Subject("crowd", 60) as subject:
            begun = time.monotonic()
            self.check(subject.pid, "blocks SIGTRAP")
            self.assertLess(time.monotonic() - begun, 10)

    def test_filter(self):
        self.check_subject("filter", "seccomp filter")

    def test_strict(self):
        with Subject("strict") as subject:
            time.sleep(0.1)
            self.check(subject.pid, "strict seccomp")

    def test_no_memory(self):
        self.check_limited(resource.RLIMIT_AS, 4096, "gets no memory for trapline's handler")

    def test_no_descriptor(self):
        self.check_limited(resource.RLIMIT_NOFILE, 0, "may open no more files")

    def check_limited(self, limit, value, sentence):
        with Subject("work", 2) as subject:
            before = subject.traces()
            resource.prlimit(subject.pid, limit, (value, value))
            self.check(subject.pid, sentence)
            self.assertEqual(subject.traces(), before)
            self.assertEqual(subject.last_words()[1], 0)

    def test_stopped(self):
        with Subject("work", 2) as subject:
            os.kill(subject.pid, signal.SIGSTOP)
            time.sleep(0.1)
            self.check(subject.pid, "is stopped: `kill -CONT")
            os.kill(subject.pid, signal.SIGCONT)
            self.assertEqual(subject.last_words()[1], 0)

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_frozen(self):
        for root, freeze in ("/sys/fs/cgroup", "cgroup.freeze 1 0"), ("/sys/fs/cgroup/unified", "cgroup.freeze 1 0"), \
                ("/sys/fs/cgroup/freezer", "freezer.state FROZEN THAWED"):
            name, frozen, thawed = freeze.split()
            group = os.path.join(root, f"trapline-attach-{os.getpid()}")
            try:
                os.mkdir(group)
            except OSError:
                continue
            try:
                if os.path.exists(os.path.join(group, name)):
                    self.check_frozen(group, group, name, frozen, thawed)
                    inner = os.path.join(group, "inner")
                    os.mkdir(inner)
                    try:
                        self.check_frozen(group, inner, name, frozen, thawed)
                    finally:
                        os.rmdir(inner)
            finally:
                os.rmdir(group)

    def check_frozen(self, group, own, name, frozen, thawed):
        """In a group of its own, and one that is thawed where it was frozen."""
        def write(folder, file, text):
            with open(os.path.join(folder, file), "w", encoding="ascii") as opened:
                opened.write(text)

        with self.subTest(own), Subject("work", 3) as subject:
            before = subject.traces()
            write(own, "cgroup.procs", str(subject.pid))
            write(group, name, frozen)
            time.sleep(0.2)
            try:
                self.check(subject.pid, f"is frozen with its control group: `echo {thawed} > {group}/{name}`")
            finally:
                write(group, name, thawed)
            self.assertEqual(subject.traces(), before)
            self.assertEqual(subject.last_words()[1], 0)

    def test_between_fork_and_execution(self):
        """A child of posix_spawn() that has not executed its program yet: its parent would keep what is put there."""
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "fifo")
            os.mkfifo(fifo)
            code = ("import os; print('ready', flush=True); "
                    f"pid = os.posix_spawn('/bin/true', ['true'], {{}}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, {fifo!r}, "
                    "os.O_RDONLY, 0)]); print('ok' if os.waitpid(pid, 0)[1] == 0 else 'wrong')")
            with Subject("-c", code, program=sys.executable) as subject:
                for _ in range(100):
                    with open(f"/proc/{subject.pid}/task/{subject.pid}/children", encoding="ascii") as file:
                        children = file.read().split()
                    if children:
                        break
                    time.sleep(0.02)
                before = subject.traces()
                try:
                    self.check(children[0], "runs in the memory of process")
                    self.check(subject.pid, "forks or creates a thread|does not come to a stop")
                    self.assertEqual(subject.traces(), before)
                finally:  # it goes on, whatever came of it
                    writer = os.open(fifo, os.O_RDWR)
                self.assertEqual(subject.last_words(), ("ok", 0))
                os.close(writer)

    def test_first_thread_ended(self):
        with Subject("orphans", 2) as subject:
            time.sleep(0.1)
            self.check(subject.pid, "first thread of process .* has ended before the others")
            self.check(subject.pid, "first thread of process .* has ended before the others", command=["watch", "racy:w"])
            self.assertEqual(subject.process.wait(), 0)

    def test_patch_by_name(self):
        done = trapline("patch", "-p", "no_such_name", "--list")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no process is named no_such_name", done.stderr)
        with Subject("sleep", 2) as subject:
            self.assertIn("does not listen for patches", trapline("patch", "-p", subject.pid, "--list").stderr)

    # Those that enter a process, and those that do not.
    COMMANDS = ["race"], ["watch", "racy:w"], ["throttle", "--cpu", "90%"], ["patch", "--list"]

    def test_ended(self):
        process = subprocess.Popen(["true"])
        time.sleep(0.2)
        for command in self.COMMANDS:
            self.check(process.pid, "has ended", command)
        process.wait()
        for command in self.COMMANDS:
            self.check(process.pid, "no such process|no process", command)

    def test_thread(self):
        with Subject("work", 2) as subject:
            threads = [int(tid) for tid in os.listdir(f"/proc/{subject.pid}/task") if int(tid) != subject.pid]
            for command in [["race"]] * 5 + list(self.COMMANDS):  # children come and go
                self.check(threads[0], f"{threads[0]} is a thread of process {subject.pid}: give the process", command)

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_kernel(self):
        with open("/proc/2/comm", encoding="ascii") as file:
            if file.read() != "kthreadd\n":
                self.skipTest("no thread of the kernel's is shown here")
        for command in self.COMMANDS:
            self.check(2, "process 2 has no program: it is a thread of the kernel's", command)

    def test_itself(self):
        done = subprocess.run(["sh", "-c", 'exec "$0" race -p $$', TRAPLINE], capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("is this very trapline", done.stderr)

    def test_32_bit(self):
        """Known by the file that it executes."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "small")
            with open(path, "wb") as file:
                file.write(small_program())
            os.chmod(path, 0o755)
            try:
                process = subprocess.Popen([path], stdin=subprocess.DEVNULL)
            except OSError:
                self.skipTest("this kernel runs no 32-bit programs")
            try:
                for command in self.COMMANDS:
                    self.check(process.pid, "runs 32-bit code", command)
            finally:
                process.kill()
                process.wait()

    @unittest.skipUnless(os.getuid() == 0, "needs another user")
    def test_another_user(self):
        """One sentence, whether it has children at that moment or not."""
        for what in "work", "master":
            with self.subTest(what), Subject(what, 2) as subject:
                self.check(subject.pid, "root as that user|is user 0's", user=65534, group=65534, extra_groups=[])
                self.assertEqual(subject.last_words(), ("ok", 0))

    def test_traced_from_its_start(self):
        """Everything that strace's children start is its tracee: a static program runs unwatched, and its end is
        told."""
        line = ["strace", "-f", "-e", "trace=none", "-o", os.devnull, TRAPLINE, "race", "--", STATIC, "work", "1"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.stdout.splitlines(), done.returncode), (["ready", "ok"], 0), done.stderr)
        self.assertRegex(done.stderr, "is traced by process .* runs unwatched")

    def test_wrong_line(self):
        for line in (["-p", "0"], ["-p", "1", "--", "true"]):
            done = trapline("race", *line)
            self.assertEqual(done.returncode, 2, done.stderr)
        for command in self.COMMANDS:
            for text in "", "0", "-5", "4194305":
                done = trapline(*command, "-p", text)
                self.assertEqual(done.returncode, 2, (command, text, done.stderr))
                self.assertRegex(done.stderr, r"^trapline: --pid '.*' is (not the|neither the) number [^\n]*\n$")
            done = trapline(*command, "-p", os.getpid(), "-p", os.getppid())
            self.assertEqual(done.returncode, 2, (command, done.stderr))
            self.assertRegex(done.stderr, r"^trapline: -p is given twice: [^\n]*\n$")
        done = trapline("race", "-p", SUBJECT)
        self.assertEqual((done.returncode, "not a path" in done.stderr), (1, True), done.stderr)
        for command in ["race"], ["heap"], ["throttle", "--cpu", "20%"]:
            self.assertIn("-p PID", trapline(*command).stderr)

    def test_no_limit(self):
        with Subject("race", 1) as subject:
            done = trapline("throttle", "-p", subject.pid)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, "which limit it gets: --cpu")
            self.assertEqual(subject.last_words(), ("ok", 0))

    def test_slots_of_heap_beside_another(self):
        """Of three two are the other tool's, which is said with what to do; of four two suffice."""
        for slots, said in (3, True), (4, False):
            with Subject("race", 2) as subject:
                done = trapline("run", "--tool", "race,heap", "--slots", slots, "-q", "-p", subject.pid, "--duration", 1)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual("take --slots 4" in done.stderr, said, done.stderr)
                self.assertEqual(subject.last_words(), ("ok", 0))


# This one counts samples of children that take all processors.
shares.main(5, machine_works, ["Found.test_children_are_sampled"])
