#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/SECURITY.md claims: nothing in set-user-ID programs, nothing set-user-ID itself, no socket, no
file that others could use, and a controller that a hostile program cannot harm.

usage: tests/behave/security/security.py build/trapline build/…/scribble build/…/impostor build/…/pipes"""
import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from reachable import reachable  # pylint: disable=wrong-import-position

TRAPLINE, SCRIBBLE, IMPOSTOR, PIPES = reachable(*(sys.argv.pop(1) for _ in range(4)))
NOBODY = "65534"
AS_NOBODY = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]

SHOW = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char line[4096];
	int found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps))
		found |= strstr(line, "trapline") != NULL;
	printf("effective %d real %d trapline %d\n", (int)geteuid(), (int)getuid(), found);
	return 0;
}
"""

# What a child sees of us: variables, and the library.
SEEN = r"""
#include <stdio.h>
#include <string.h>
extern char **environ;
int main(int argc, char **argv)
{
	char line[4096];
	int variables = 0, library = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps))
		library |= strstr(line, "libtrapline") != NULL;
	for (char **at = environ; *at; at++)
		variables += strncmp(*at, "TRAPLINE_AREA=", 14) == 0 ||
			     (strncmp(*at, "LD_PRELOAD=", 11) == 0 && strstr(*at, "trapline"));
	printf("%s: variables %d library %d\n", argc > 1 ? argv[1] : "?", variables, library);
	return 0;
}
"""

# Every way to execute a program, from a process with one thread and with several.
EXECUTE = r"""
import ctypes, os, subprocess, sys, threading, time
path, folder = sys.argv[1], os.path.dirname(sys.argv[1])
os.environ["PATH"] = folder + ":" + os.environ.get("PATH", "/usr/bin:/bin")
libc = ctypes.CDLL(None)
def call(way):
    arguments = [path, way]
    if way == "posix_spawn":
        os.waitpid(os.posix_spawn(path, arguments, os.environ), 0)
    elif way == "posix_spawnp":
        os.waitpid(os.posix_spawnp(os.path.basename(path), arguments, os.environ), 0)
    elif way == "system":
        os.system(path + " system")
    elif way == "subprocess":
        subprocess.run(arguments, check=True)
    else:
        child = os.fork()
        if child == 0:
            if way == "execve":
                os.execv(path, arguments)
            if way == "execvp":
                vector = (ctypes.c_char_p * 3)(path.encode(), way.encode(), None)
                libc.execvp(os.path.basename(path).encode(), vector)
            descriptor = os.open(path, os.O_PATH)
            os.set_inheritable(descriptor, True)
            os.execve(descriptor, arguments, os.environ)
        os.waitpid(child, 0)
def calls():
    for way in ("posix_spawn", "posix_spawnp", "system", "subprocess", "execve", "execvp", "fexecve"):
        call(way)
calls()
threading.Thread(target=time.sleep, args=(0.01,)).start()
calls()
"""

# Names of a thread, a function, a source file; the program's own comes with where it is put.
NAMES = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <stdlib.h>
long shared;
int rounds;
void turn(void) __asm__("\"turn\033[31m\"");
__attribute__((noinline)) void turn(void) { shared++; __asm__ volatile("" : : : "memory"); }
# 1 "file\033[32m\302\23333m.c"
static void *race(void *arg)
{
	pthread_setname_np(pthread_self(), "t\033[35m\n\u202ehi");
	for (int i = 0; i < rounds; i++) {
		for (int j = 0; j < 30; j++)
			turn();
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t thread[2];
	rounds = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, race, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}
"""


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60,
                            **options)
    if "an error of its own" in result.stderr:
        raise AssertionError(f"{command[:3]}: the controller survives\n{result.stderr[-2000:]}")
    return result


def names(folder):
    return set(os.listdir(folder)) if os.path.isdir(folder) else set()


def unix_sockets():
    with open("/proc/net/unix", encoding="utf-8") as lines:
        return {line.split()[7] for line in lines if len(line.split()) > 7 and "trapline" in line}


def nameless_sockets():
    with open("/proc/net/unix", encoding="utf-8") as lines:
        return {f"socket:[{line.split()[6]}]" for line in lines if len(line.split()) == 7}


def descriptors(pid):
    """What they lead to, but for those that are closed meanwhile."""
    found = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return found


def children(pid):
    """Of the process: by their arguments."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        pids = [int(word) for word in file.read().split()]
    found = {}
    for child in pids:
        with open(f"/proc/{child}/cmdline", encoding="utf-8") as file:
            found[file.read().rstrip("\0").replace("\0", " ")] = child
    return found


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file)


def is_gone(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(self.folder.cleanup)
        os.chmod(self.folder.name, 0o755)
        self.path = lambda name: os.path.join(self.folder.name, name)


@unittest.skipUnless(os.getuid() == 0, "only root can make set-user-ID files of another user")
class Privilege(Folder):
    def setUp(self):
        super().setUp()
        with open(self.path("show.c"), "w", encoding="utf-8") as file:
            file.write(SHOW)
        subprocess.run(["gcc", "-o", self.path("show"), self.path("show.c")], check=True)
        os.chmod(self.path("show"), 0o4755)
        if "effective 0" not in run(*AS_NOBODY, self.path("show")).stdout:
            self.skipTest("set-user-ID files are not honoured in /tmp")

    def test_a_set_user_id_program_runs_bare(self):
        result = run(*AS_NOBODY, TRAPLINE, "race", "--", self.path("show"), cwd="/")
        self.assertEqual((result.returncode, result.stdout), (0, f"effective 0 real {NOBODY} trapline 0\n"))
        self.assertIn("set-user-ID", result.stderr)

    def test_nor_is_it_entered_as_a_child(self):
        result = run(*AS_NOBODY, TRAPLINE, "race", "-q", "--", "sh", "-c", self.path("show") + "; true", cwd="/")
        self.assertEqual(result.stdout, f"effective 0 real {NOBODY} trapline 0\n")

    def test_nor_by_a_bare_preload(self):
        library = os.path.join(os.path.dirname(TRAPLINE), "src", "agent", "libtrapline-agent.so")
        result = run(*AS_NOBODY, "env", f"LD_PRELOAD={library}", "TRAPLINE_AREA=1:3", self.path("show"), cwd="/")
        self.assertEqual(result.stdout, f"effective 0 real {NOBODY} trapline 0\n")

    def test_the_command_refuses_to_be_set_user_id(self):
        shutil.copy(TRAPLINE, self.path("trapline"))
        os.chmod(self.path("trapline"), 0o4755)
        result = run(*AS_NOBODY, self.path("trapline"), "race", "--", "true", cwd="/")
        self.assertEqual(result.returncode, 1)
        self.assertIn("set-user-ID", result.stderr)


class Children(Folder):
    """Programs that nothing can be loaded into see nothing of us, however they are executed; the others are
    watched."""

    def setUp(self):
        super().setUp()
        with open(self.path("seen.c"), "w", encoding="utf-8") as file:
            file.write(SEEN)
        for name, options in (("dynamic", []), ("static", ["-static"]), ("static-pie", ["-static-pie"])):
            subprocess.run(["gcc", "-o", self.path(name), self.path("seen.c"), *options], check=True)
        # A script cannot hand on a name in the place of its own: it gets its path as well.
        for name in ("dynamic", "static"):
            self.script(f"script-{name}", f"#!{self.path(name)}\n")
        self.script("script-twice", f"#! {self.path('script-static')} more\n")
        with open(self.path("execute.py"), "w", encoding="utf-8") as file:
            file.write(EXECUTE)

    def script(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), 0o755)

    def seen(self, name):
        user = AS_NOBODY if os.getuid() == 0 else []
        result = run(*user, TRAPLINE, "race", "-q", "--", "/usr/bin/python3", self.path("execute.py"), self.path(name),
                     cwd="/")
        lines = [line.split(": ")[1] for line in result.stdout.splitlines()]
        self.assertEqual(len(lines), 14, result)
        return set(lines)

    def test_those_that_cannot_be_entered(self):
        for name in ("static", "static-pie", "script-twice"):
            with self.subTest(name):
                self.assertEqual(self.seen(name), {"variables 0 library 0"})

    def test_those_that_can(self):
        for name in ("dynamic", "script-dynamic"):
            with self.subTest(name):
                self.assertEqual(self.seen(name), {"variables 0 library 1"})
        result = run(TRAPLINE, "race", "-q", "--", "sh", "-c", "/lib64/ld-linux-x86-64.so.2 " + self.path("dynamic"))
        self.assertEqual(result.stdout, "?: variables 0 library 1\n")

    @unittest.skipUnless(os.getuid() == 0, "only root can make set-user-ID files of another user")
    def test_set_user_id(self):
        os.chmod(self.path("dynamic"), 0o4755)
        self.assertEqual(self.seen("dynamic"), {"variables 0 library 0"})
        os.chmod(self.path("dynamic"), 0o2755)
        self.assertEqual(self.seen("dynamic"), {"variables 0 library 0"})
        # Its own user's, and root's, raise nothing.
        os.chmod(self.path("dynamic"), 0o4755)
        os.chown(self.path("dynamic"), int(NOBODY), int(NOBODY))
        os.chmod(self.path("dynamic"), 0o4755)
        self.assertEqual(self.seen("dynamic"), {"variables 0 library 1"})

    def test_capabilities(self):
        if os.getuid() != 0 or not shutil.which("setcap"):
            self.skipTest("needs root and setcap")
        subprocess.run(["setcap", "cap_net_raw+ep", self.path("dynamic")], check=True)
        self.assertEqual(self.seen("dynamic"), {"variables 0 library 0"})


class Traces(Folder):
    """What a run leaves and opens."""

    def test_no_socket_and_no_shared_file(self):
        places = ("/tmp", "/dev/shm", "/run", "/var/tmp")
        before, sockets = {place: names(place) for place in places}, unix_sockets()
        output = self.path("out.jsonl")
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        with subprocess.Popen([TRAPLINE, "race", "-q", "-o", output, "--", "sleep", "3"]) as process:
            time.sleep(1.5)
            program = children(process.pid)["sleep 3"]
            new = {name for place in places for name in names(place) - before[place] if "trapline" in name}
            self.assertFalse([kind for kind in descriptors(program) if kind.startswith("socket:")])
            # To the process that reads symbols, and nowhere else.
            own = {kind for kind in descriptors(process.pid) if kind.startswith("socket:")}
            self.assertLessEqual(len(own), 1)
            self.assertLessEqual(own, nameless_sockets())
            self.assertFalse(new)
            self.assertEqual(unix_sockets() - sockets, set())
            self.assertFalse(any("trapline" in os.readlink(f"/proc/{program}/fd/{fd}")
                                 for fd in os.listdir(f"/proc/{program}/fd")))
        self.assertEqual(stat.S_IMODE(os.stat(output).st_mode), 0o600)

    def test_a_file_that_is_there_becomes_private(self):
        output = self.path("out.jsonl")
        for command in (["race", "-q", "-o", output, "--", "true"], ["watch", "getppid", "-o", output, "--", "true"],
                        ["report", "-o", output, "/dev/null"]):
            with open(output, "w", encoding="ascii") as file:
                file.write("before")
            os.chmod(output, 0o644)
            run(TRAPLINE, *command)
            with open(output, encoding="utf-8") as file:
                self.assertNotIn("before", file.read(), command)
            self.assertEqual(stat.S_IMODE(os.stat(output).st_mode), 0o600, command)

    def watch_full(self, output, *before):
        """Watch a hundred writes, with the hits in a file on a disk that is full, or soon is."""
        with open(self.path("full.c"), "w", encoding="utf-8") as file:
            file.write("int counter; int main(void) { for (int i = 0; i < 100; i++) counter++; return 0; }")
        subprocess.run(["gcc", "-o", self.path("full"), self.path("full.c")], check=True)
        result = run(*before, TRAPLINE, "watch", "counter", "--count", "-o", output, "--", self.path("full"))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(f"trapline: {output} cannot be written: No space left on device", result.stderr)
        self.assertRegex(result.stderr, r"\d+ findings could not be written")
        return result.stdout

    def test_what_finds_no_room_is_told(self):
        self.watch_full("/dev/full")
        with open(self.path("names.c"), "w", encoding="utf-8") as file:
            file.write(NAMES.replace("pthread_join(thread[i], NULL);", "pthread_join(thread[i], NULL);\n\treturn 5;"))
        subprocess.run(["gcc", "-O1", "-pthread", "-o", self.path("names"), self.path("names.c")], check=True)
        result = run(TRAPLINE, "race", "-q", "-o", "/dev/full", "--", self.path("names"), "2500")
        self.assertIn("cannot be written: No space left on device", result.stderr)
        self.assertIn("could not be written", result.stderr)
        self.assertEqual(result.returncode, 5, "the program's own status stays")

    @unittest.skipUnless(os.getuid() == 0, "only root can make a small disk")
    def test_what_found_room_is_whole(self):
        os.mkdir(self.path("disk"))
        lines = self.watch_full(self.path("disk/out.jsonl"), "unshare", "-m", "sh", "-c",
                                'mount -t tmpfs -o size=16k none "$0" && { "$@"; status=$?; cat "$0/out.jsonl"; exit $status; }',
                                self.path("disk")).splitlines()
        self.assertGreater(len([json.loads(line) for line in lines]), 3)

    def test_symbols_are_read_by_a_process_that_can_do_nothing_else(self):
        output = self.path("out.jsonl")
        with subprocess.Popen([TRAPLINE, "watch", "-o", output, "environ", "--", "sleep", "3"],
                              stderr=subprocess.DEVNULL) as process:
            for _ in range(100):
                reader = children(process.pid).get("trapline symbol-reader")
                # It begins as whoever started it, and confines itself before it reads anything.
                if reader and "sleep 3" in children(process.pid) and status_of(reader)["Seccomp"] == "2":
                    break
                time.sleep(0.05)
            status = status_of(reader)
            self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
            self.assertEqual((int(status["CapEff"], 16), int(status["CapPrm"], 16)), (0, 0))
            if os.getuid() == 0:
                kinds = descriptors(reader)
                self.assertEqual(len([kind for kind in kinds if kind.startswith("socket:")]), 1)
                self.assertFalse([kind for kind in kinds if kind.startswith(("pipe:", "anon_inode:", "/memfd"))])
            process.kill()
        for _ in range(100):
            if is_gone(reader):
                break
            time.sleep(0.05)
        self.assertTrue(is_gone(reader))

    def test_others_cannot_open_the_area(self):
        if os.getuid() != 0:
            self.skipTest("needs two users")
        with subprocess.Popen([TRAPLINE, "race", "-q", "--", "sleep", "3"]) as process:
            time.sleep(1)
            area = [fd for fd in os.listdir(f"/proc/{process.pid}/fd")
                    if "memfd:trapline" in os.readlink(f"/proc/{process.pid}/fd/{fd}")]
            self.assertEqual(len(area), 1)
            result = run(*AS_NOBODY, "cat", f"/proc/{process.pid}/fd/{area[0]}")
            self.assertIn("Permission denied", result.stderr)


class Patching(Folder):
    """The one socket there is: of a program that is ready to be patched."""

    @unittest.skipUnless(os.getuid() == 0, "needs two users")
    def test_strangers_are_cut_off(self):
        before = unix_sockets()
        with subprocess.Popen([TRAPLINE, "run", "--", "sleep", "4"]) as process:
            for _ in range(30):
                time.sleep(0.1)
                new = unix_sockets() - before
                if new:
                    break
            if not new:
                process.wait()
                self.skipTest("this program does not listen")
            code = ("import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(3)\n"
                    "s.connect(chr(0) + sys.argv[1][1:])\n"
                    "try:\n s.send(bytes(64)); print(s.recv(4096))\nexcept OSError as e: print(type(e).__name__)")
            name = sorted(new)[0]
            stranger = run(*AS_NOBODY, "/usr/bin/python3", "-c", code, name, cwd="/").stdout
            self.assertIn(stranger.strip(), ("b''", "ConnectionResetError", "BrokenPipeError"))
            friend = run("/usr/bin/python3", "-c", code, name, cwd="/").stdout
            self.assertNotIn(friend.strip(), ("b''", "ConnectionResetError", "BrokenPipeError", "TimeoutError"))


class Waiting(Folder):
    """Nothing that a program does to its files, and nobody who does not read, keeps trapline from its end."""

    def test_a_pipe_in_the_place_of_the_program(self):
        for number in range(8):
            shutil.copy(PIPES, self.path(f"pipes{number}"))
        result = run(TRAPLINE, "race", "-q", "--", "sh", "-c", 'for i in "$0"/pipes?; do "$i"; done; exit 5',
                     self.folder.name)
        self.assertEqual(result.returncode, 5, result.stderr[-2000:])
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipes7")).st_mode))

    def test_it_ends_when_asked_although_nobody_reads_what_it_prints(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        with subprocess.Popen([TRAPLINE, "watch", "shared", "--", SCRIBBLE, "60", "0", "1"], stderr=writer,
                              stdout=subprocess.DEVNULL) as process:
            os.close(writer)
            time.sleep(2)
            process.terminate()
            self.assertEqual(process.wait(20), -15)


class Terminal(Folder):
    """What a program calls itself and its parts is shown, and drives nothing."""

    def setUp(self):
        super().setUp()
        self.program = self.path("p\x1b[34m\u202e\u009b31m")
        with open(self.path("names.c"), "w", encoding="utf-8") as file:
            file.write(NAMES)
        subprocess.run(["gcc", "-g", "-O1", "-pthread", "-o", self.program, self.path("names.c")], check=True)
        self.stripped = self.program + ".stripped"
        subprocess.run(["objcopy", "--strip-debug", self.program, self.stripped], check=True)

    def check(self, wanted, *command):
        result = run(*command)
        for text in wanted:
            self.assertIn(text, result.stdout + result.stderr)
        self.assertNotRegex(result.stdout + result.stderr, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
        self.assertFalse([line for line in result.stderr.splitlines() if line.startswith("\\xe2")])

    def test_in_what_watch_prints(self):
        thread = "t\\x1b[35m\\x0a\\xe2\\x80\\xaehi"
        self.check((thread, "file\\x1b[32m\\xc2\\x9b33m.c"), TRAPLINE, "watch", "shared", "--stack", "--", self.program)
        self.check((thread, "turn\\x1b[31m", "p\\x1b[34m"), TRAPLINE, "watch", "shared:8", "--stack", "--", self.stripped)

    def test_in_what_race_and_report_print(self):
        output = self.path("out.jsonl")
        self.check(("t\\x1b[35m",), TRAPLINE, "race", "--show", "all", "-o", output, "--gen-suppressions", "-",
                   "--", self.stripped, "2500")
        self.check(("t\\x1b[35m",), TRAPLINE, "report", output)


class Scribbling(Folder):
    """A program that writes nonsense into the area harms its own findings alone."""

    def check(self, *command):
        for seed in range(1, 4):
            with subprocess.Popen(["sleep", "60"]) as foreign:
                result = run(TRAPLINE, *command, "-o", self.path("out.jsonl"), "--", SCRIBBLE, "2", str(seed),
                             str(foreign.pid))
                self.assertIsNone(foreign.poll(), "a process named in the area is left alone")
                foreign.kill()
            self.assertEqual(result.returncode, 5, (seed, result.stderr[-2000:]))
            # Where no area was found nothing was written, and nothing is shown.
            self.assertRegex(result.stdout, r"scribbled over [1-9]\d{4,} words, [1-9]\d* times")

    def test_under_race(self):
        self.check("race", "-q")

    def test_under_watch(self):
        self.check("watch", "shared", "--count")

    def test_a_thread_of_another_process_is_left_alone(self):
        with subprocess.Popen([IMPOSTOR, "victim"]) as victim:
            result = run(TRAPLINE, "watch", "own", "--stats", "--", IMPOSTOR, str(victim.pid))
            self.assertIsNone(victim.poll(), "the thread that was named lives on")
            victim.kill()
        self.assertEqual(result.returncode, 5, result.stderr[-2000:])
        self.assertRegex(result.stderr[-9000:], r"[1-9]\d* +threads-strange")


if __name__ == "__main__":
    unittest.main()
