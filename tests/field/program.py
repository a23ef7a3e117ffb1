# SPDX-License-Identifier: Apache-2.0
"""A program of Debian with its clients: how its package starts it, what is asked of it, what must be
the same on every run. Nothing here knows what stands in front of the program's command line."""
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from session import descendants

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/lib/postgresql/15/bin"
ANSWER_SECONDS = 60     # a server must answer within this after its start
END_SECONDS = 30        # and end within this when it is told to


class Failure(Exception):
    """The program or a client of it did not do what it must."""


class Outcome:
    """What one run came to."""

    def __init__(self):
        self.checks = set()    # lines that must be the same on every run
        self.status = None     # of the command; 128 and more: the signal
        self.killed = 0        # processes that did not end by themselves
        self.operations = 0    # done by the program, in its own unit
        self.seconds = 0.0     # that these took
        self.p99 = None        # of an operation, in milliseconds, where the client tells
        self.cpu = 0.0         # seconds, of the program and of what watches it
        self.threads = 0       # most that were seen in one process
        self.errors = ""


class Place:
    """Where one run lives: a folder that everybody may enter, and a port that is free."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="field-")
        os.chmod(self.folder, 0o777)
        self.port = free_port()
        self.more_ports = {}
        self.closing = []      # called when it goes away

    def path(self, name):
        return os.path.join(self.folder, name)

    def port_of(self, name):
        """A second port, the same one whenever it is asked for by this name."""
        if name not in self.more_ports:
            self.more_ports[name] = free_port()
        return self.more_ports[name]

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def folder_of(self, name, user=None):
        path = self.path(name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o777)
        if user and os.geteuid() == 0:
            shutil.chown(path, user)
        return path

    def helper(self, line):
        """A command beside the program, killed with the place; what it prints is in the file `helper`."""
        with open(self.path("helper"), "ab") as output:
            popen = subprocess.Popen([str(word) for word in line], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                     cwd=self.folder, env={**os.environ, "PATH": PATH})
        self.closing += [popen.kill, popen.wait]

    def remove(self):
        for close in self.closing:
            close()
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def client(line, limit=120, status=True, text=""):
    """What a client printed."""
    done = subprocess.run([str(word) for word in line], input=text, capture_output=True, text=True, timeout=limit,
                          env={**os.environ, "PATH": PATH, "LC_ALL": "C"}, errors="replace", check=False)
    if status and done.returncode:
        raise Failure(f"{line[0]} ended with status {done.returncode}: {done.stdout[-400:]}{done.stderr[-400:]}")
    return done.stdout + done.stderr


def conversation(address, text, limit=10):
    """What comes back on a socket until its other end is closed; the address is a path or (host, port)."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as stream:
        stream.settimeout(limit)
        stream.connect(address)
        stream.sendall(text.encode())
        answer = b""
        while chunk := stream.recv(65536):
            answer += chunk
    return answer.decode(errors="replace")


def http_get(port, path, headers=""):
    return conversation(("127.0.0.1", port), f"GET {path} HTTP/1.0\r\nHost: localhost\r\n{headers}\r\n")


def wrk(outcome, url, seconds, connections=20, headers=()):
    """Loads a web server for some seconds and adds what came of it."""
    extra = [word for header in headers for word in ("-H", header)]
    text = client(["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}", "--latency", *extra, url],
                  limit=seconds + 60)
    count = int(re.search(r"(\d+) requests in", text).group(1))
    outcome.operations += count
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s|m)", text).groups()
    slowest = float(value) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60000}[unit]
    outcome.p99 = max(outcome.p99 or 0, slowest)
    outcome.checks.add("answers are " + ("not all 2xx" if "Non-2xx" in text else "2xx" if count else "missing"))


class Program:
    """Base: what it is called, what it needs and who it runs as."""

    name = ""
    package = ""           # whose version is told
    packages = ()          # others that its clients come from
    needs = ()             # commands
    operation = ""         # what is counted, and what else is asked of it, for the table
    user = None            # whom the package's unit runs it as, when we are root
    group = None
    capabilities = ()      # that the unit leaves to this user
    quick = False          # one of those that .ci/run looks at

    def missing(self):
        return [command for command in self.needs if not shutil.which(command, path=PATH)]

    def version(self):
        return client(["dpkg-query", "-W", "-f", "${Version}", self.package], status=False).strip()

    def prepare(self, place):
        """Makes what the program needs in its folder."""

    def command(self, place):
        raise NotImplementedError

    def environment(self, place):
        return {"PATH": PATH, "HOME": place.folder, "TMPDIR": place.folder, "LC_ALL": "C.UTF-8", "TZ": "UTC"}

    def as_user(self):
        if not self.user or os.geteuid() != 0:
            return []
        words = ["setpriv", "--reuid", self.user, "--regid", self.group or self.user, "--init-groups"]
        if self.capabilities:
            capabilities = ",".join("+" + one for one in self.capabilities)
            words += ["--inh-caps", capabilities, "--ambient-caps", capabilities]
        return words

    def start(self, wrap, place):
        line = [*self.as_user(), *wrap, *self.command(place)]
        return Run(line, place, self.environment(place))

    def run(self, wrap, seconds):
        """One Outcome; `wrap` are the words in front of the command line."""
        place = Place()
        try:
            self.prepare(place)
            return self.work(wrap, place, seconds)
        finally:
            place.remove()

    def work(self, wrap, place, seconds):
        raise NotImplementedError


class Run:
    """A program that has been started, with all that it leaves in the background."""

    def __init__(self, line, place, environment):
        self.report, self.output = place.path("session.json"), place.path("output")
        with open(self.output, "wb") as output:
            self.popen = subprocess.Popen([sys.executable, os.path.join(HERE, "session.py"), self.report, *line],
                                          cwd=place.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                          env=environment, start_new_session=True)
        self.threads = 0

    def alive(self):
        return self.popen.poll() is None

    def processes(self, name=None):
        """[(pid, threads)] of this name, oldest first."""
        found = []
        for pid in descendants(self.popen.pid):
            try:
                with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
                    fields = dict(re.findall(r"^(\w+):\s+(.*)$", status.read(), re.M))
                    if name in (None, fields["Name"]):
                        found.append((pid, int(fields["Threads"])))
            except (OSError, KeyError):
                continue
        return found

    def look(self):
        self.threads = max([self.threads, *(threads for _, threads in self.processes())])

    def signal(self, name, number):
        """To the oldest process of this name."""
        for pid, _ in self.processes(name)[:1]:
            os.kill(pid, number)

    def text(self):
        with open(self.output, encoding="utf-8", errors="replace") as output:
            return output.read()

    def wait(self, limit):
        """Waits for the last process; (status, CPU seconds, how many had to be killed)."""
        try:
            self.popen.wait(limit)
        except subprocess.TimeoutExpired:
            self.popen.terminate()
            self.popen.wait(END_SECONDS)
        with open(self.report, encoding="utf-8") as file:
            outcome = json.load(file)
        return outcome["status"], outcome["cpu"], outcome["killed"]


class Server(Program):
    """A program that is asked for some seconds and then told to end."""

    process = ""               # the name that the kernel knows it by
    end_signal = signal.SIGTERM
    control_seconds = 1.0      # between two uses of a control path

    def answers(self, place):
        """Whether it can be asked already."""
        try:
            socket.create_connection(("127.0.0.1", place.port), 1).close()
            return True
        except OSError:
            return False

    def load(self, place, outcome, seconds):
        """Asks for some seconds; adds to operations and checks."""
        raise NotImplementedError

    def controls(self, place, run):
        """Functions that each use a control path and return a line that must be the same on every run."""
        return []

    def settle(self, place, outcome):
        """Looks at what is left when the load is over."""

    def end(self, run, place):
        run.signal(self.process, self.end_signal)

    def wait_for_answer(self, run, place):
        end = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < end and run.alive():
            if self.answers(place):
                return
            time.sleep(0.05)
        raise Failure("no answer: " + run.text()[-1500:])

    def use_controls(self, run, place, outcome, over):
        """In turns until the load is over, each at least once."""
        controls = self.controls(place, run)
        rounds = itertools.chain(controls, itertools.takewhile(lambda _: not over.is_set(), itertools.cycle(controls)))
        for control in rounds:
            over.wait(self.control_seconds)
            try:
                line = control()
            except (Failure, OSError, subprocess.SubprocessError) as error:
                line = f"{control.__name__}: {error}"
            outcome.checks.add(line)
            run.look()

    def work(self, wrap, place, seconds):
        outcome = Outcome()
        run = self.start(wrap, place)
        over = threading.Event()
        control = threading.Thread(target=self.use_controls, args=(run, place, outcome, over))
        try:
            self.wait_for_answer(run, place)
            run.look()
            control.start()
            begun = time.monotonic()
            self.load(place, outcome, seconds)
            outcome.seconds = time.monotonic() - begun
            over.set()
            control.join()
            self.settle(place, outcome)
            if not run.alive():
                outcome.checks.add("it ended by itself")
        except (Failure, OSError, subprocess.SubprocessError) as error:
            outcome.checks.add(f"failed: {error}")
        finally:
            over.set()
            self.end(run, place)
            outcome.status, outcome.cpu, outcome.killed = run.wait(END_SECONDS)
            outcome.errors, outcome.threads = run.text(), run.threads
        return outcome


class Batch(Program):
    """A program that works through something and ends; what it prints or writes must not change."""

    limit = 300
    amount = 1     # operations of one run

    def results(self, place, run):
        """Lines that must be the same on every run."""
        raise NotImplementedError

    def work(self, wrap, place, seconds):
        outcome = Outcome()
        begun = time.monotonic()
        run = self.start(wrap, place)
        watcher = threading.Thread(target=self.look, args=(run,))
        watcher.start()
        outcome.status, outcome.cpu, outcome.killed = run.wait(self.limit)
        watcher.join()
        outcome.seconds, outcome.operations = time.monotonic() - begun, self.amount
        outcome.threads, outcome.errors = run.threads, run.text()
        outcome.checks.update(self.results(place, run))
        return outcome

    def look(self, run):
        while run.alive():
            run.look()
            time.sleep(0.3)
