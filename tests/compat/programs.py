# SPDX-License-Identifier: Apache-2.0
"""Programs with a workload of our own in programs/, and the servers of tests/real under load."""
import os
import re
import shutil
import sys
import tempfile

from workload import BUILD, NOBODY, PROGRAMS, ROOT, Outcome, Workload, must

sys.path.insert(0, os.path.join(ROOT, "tests", "real"))
import applications  # noqa: E402  pylint: disable=wrong-import-position


class Script(Workload):
    """A shell script of programs/."""

    def __init__(self, name, package, needs, title, replace=()):
        self.name, self.package, self.needs, self.title, self.replace = name, package, needs, title, replace
        self.quick = name == "jobs"

    def command(self, folder):
        return ["bash", os.path.join(PROGRAMS, self.name + ".sh")]

    def checks(self, output, folder):
        for pattern, text in self.replace:
            output = re.sub(pattern, text, output)
        return output.splitlines(), 0


class Interpreted(Workload):
    """A program that an interpreter or virtual machine runs."""

    def __init__(self, name, package, line, title, quick=False):
        self.name, self.package, self.line, self.title, self.quick = name, package, line, title, quick
        self.needs = (line[0],)

    def command(self, folder):
        return [word.format(programs=PROGRAMS, build=BUILD) for word in self.line]


class Java(Interpreted):
    """Compiled once, so that what is compared is the virtual machine that runs it."""

    needs = ("java", "javac")

    def prepare(self):
        must(["javac", "-d", os.path.join(BUILD, "java"), os.path.join(PROGRAMS, "Workload.java")])


class Rust(Workload):
    name, package, needs = "rust", "rustc", ("rustc",)
    title = "threads, channels, panics, conditions, sockets, a child process"

    def prepare(self):
        must(["rustc", "-O", "-g", "--edition", "2021", "-o", os.path.join(BUILD, "rust"),
              os.path.join(PROGRAMS, "workload.rs")])

    def command(self, folder):
        return [os.path.join(BUILD, "rust")]


class Go(Workload):
    """Static as Go builds by default, entered when its runtime has begun; and with cgo, watched."""

    package, needs = "golang-go", ("go",)

    def __init__(self, name, static):
        self.name, self.static = name, static
        self.title = ("goroutines, preemption, nil dereferences, timers, sockets, a child process; "
                      + ("static" if static else "dynamic (cgo)"))

    def prepare(self):
        line = ["go", "build", "-o", os.path.join(BUILD, self.name)]
        line += ["-ldflags", "-linkmode=external"] if not self.static else []
        environment = {"CGO_ENABLED": "0" if self.static else "1", "HOME": BUILD, "GOCACHE": BUILD + "/go-cache",
                       "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
        must(["env", *(f"{name}={value}" for name, value in environment.items()), *line,
              os.path.join(PROGRAMS, "workload.go")])

    def command(self, folder):
        return [os.path.join(BUILD, self.name)]

    def checks(self, output, folder):
        return output.splitlines(), 0


class Chromium(Workload):
    """With its sandbox: namespaces, a zygote and a seccomp filter of its own in each process."""

    name = package = "chromium"
    needs, user = ("chromium",), NOBODY
    title = "headless, sandboxed: a page with a worker and a canvas"

    def command(self, folder):
        page = os.path.join(folder, "page.html")
        shutil.copy(os.path.join(PROGRAMS, "page.html"), page)
        os.chmod(page, 0o644)
        return ["chromium", "--headless", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                f"--user-data-dir={folder}/profile", "--virtual-time-budget=4000", "--dump-dom", "file://" + page]

    def checks(self, output, folder):
        return re.findall(r'<p id="result">.*?</p>', output), 0


class Server(Workload):
    """One of tests/real, with the load that checks itself."""

    quick_names = ("memcached",)

    def __init__(self, application, load_seconds):
        self.application, self.load_seconds = application, load_seconds
        self.name, self.package = "load-" + application.name, application.package
        self.quick = application.name in self.quick_names
        self.title = f"{load_seconds} s under load, answers and sums checked" if isinstance(
            application, applications.Server) else "the result's checksum"

    def missing(self):
        return self.application.missing()

    def version(self):
        return self.application.version()

    def run(self, wrap):
        folder = tempfile.mkdtemp(prefix="compat-")
        os.chmod(folder, 0o755)
        try:
            outcome = self.application.run(wrap, folder, self.load_seconds)
            return Outcome(outcome.result, outcome.status, outcome.errors)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


ALL = [Script("jobs", "bash", ("bash",), "pipelines, job control, traps, coprocesses"),
       Script("git", "git", ("git",), "commit, merge, rebase, threaded gc, fsck, clone, bisect"),
       Script("openssl", "openssl", ("openssl",), "speed -multi, keys, signatures, TLS server and clients",
              ((r"(?m)^\d+$", "n"),)),
       Interpreted("node", "nodejs", ("node", "{programs}/workload.js"), "workers, compiled code, WebAssembly traps, "
                   "child processes, HTTP, thread pool", quick=True),
       Java("java", "openjdk-17-jre-headless", ("java", "-Xmx256m", "-cp", "{build}/java", "Workload"),
            "null checks and safepoints by SIGSEGV, stack overflow, deoptimisation, parallel collection, processes, sockets"),
       Rust(), Go("go-static", True), Go("go-cgo", False), Chromium(),
       *(Server(application, 8) for application in applications.ALL)]
