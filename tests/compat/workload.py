# SPDX-License-Identifier: Apache-2.0
"""A workload: a real program with something to do, whose result can be compared line by line."""
import os
import re
import shutil
import signal
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = os.path.join(HERE, "programs")
BUILD = os.path.join(ROOT, "build-compat")
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/lib/postgresql/15/bin"
NOBODY = "65534"


class Outcome:
    """What one run came to: `checks` are the lines that must be the same, `failed` how many of them
    say that something failed."""

    def __init__(self, checks, status, errors="", failed=0):
        self.checks = sorted(checks)
        self.status = status
        self.errors = errors
        self.failed = failed


class Workload:
    """Base: what it is called, what it needs, what it runs."""

    name = ""
    title = ""       # for the table
    package = ""     # whose version is shown
    needs = ()       # commands
    source = None    # Debian source package whose tests are used
    seconds = 600    # after which a run is given up
    quick = False    # part of the bounded subset
    user = None      # UID to run as, when we are root

    def missing(self):
        return [command for command in self.needs if not shutil.which(command, path=PATH)]

    def version(self):
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", self.package], capture_output=True, text=True,
                              check=False)
        return done.stdout or "?"

    def prepare(self):
        """Builds what is needed once, in build-compat/."""

    def command(self, folder):
        raise NotImplementedError

    def checks(self, output, folder):
        """(lines that must be the same, how many of them say that something failed)"""
        return output.splitlines(), 0

    def directory(self, folder):
        return folder

    def environment(self, folder):
        return {"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "TZ": "UTC", "PATH": PATH,
                "TERM": "dumb", "LC_ALL": "C.UTF-8"}

    def run(self, wrap):
        folder = tempfile.mkdtemp(prefix="compat-")
        line = [*wrap, *self.command(folder)]
        if self.user and os.geteuid() == 0:
            os.chmod(folder, 0o777)
            line = ["setpriv", "--reuid", self.user, "--regid", self.user, "--clear-groups", *line]
        try:
            status, output, errors = execute(line, self.directory(folder), self.environment(folder), self.seconds)
            checks, failed = self.checks(output, folder)
            return Outcome(checks, status, errors, failed)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def execute(line, directory, environment, seconds):
    """(exit status or "timeout", standard output, standard error). Files, not pipes: a process left
    behind must not keep us waiting; such processes are ended."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with subprocess.Popen(line, cwd=directory, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment,
                              start_new_session=True) as process:
            try:
                status = process.wait(seconds)
            except subprocess.TimeoutExpired:
                status = "timeout"
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    return status, *texts


def must(line, directory=None, seconds=900):
    """Runs what prepares a workload; its output is shown when it fails."""
    done = subprocess.run(line, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=seconds, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(line)}: {done.stdout[-1500:]}{done.stderr[-1500:]}")


def fetch(package):
    """The unpacked Debian source of a package, of the main archive; its folder."""
    place = os.path.join(BUILD, "sources")
    found = folder_of(place, package)
    if found:
        return found
    state = os.path.join(BUILD, "apt")
    os.makedirs(os.path.join(state, "lists", "partial"), exist_ok=True)
    os.makedirs(place, exist_ok=True)
    with open("/etc/os-release", encoding="utf-8") as release:
        code_name = re.search(r"^VERSION_CODENAME=(\w+)", release.read(), re.M).group(1)
    with open(os.path.join(state, "sources.list"), "w", encoding="utf-8") as sources:
        sources.write(f"deb-src http://deb.debian.org/debian {code_name} main\n")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={state}/sources.list", "-o", "Dir::Etc::sourceparts=-", "-o",
           f"Dir::State::lists={state}/lists", "-o", "APT::Sandbox::User=root"]
    must([*apt, "update"])
    must([*apt, "source", "--download-only", package], place)
    described = [name for name in os.listdir(place) if name.startswith(package + "_") and name.endswith(".dsc")]
    must(["dpkg-source", "-x", sorted(described)[-1]], place)
    return folder_of(place, package)


def folder_of(place, package):
    names = sorted(os.listdir(place)) if os.path.isdir(place) else []
    found = [name for name in names if re.match(re.escape(package) + r"-\d", name)
             and os.path.isdir(os.path.join(place, name))]
    return os.path.join(place, found[-1]) if found else None
