# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL cluster of a test's own: on a socket in a temporary folder, run by an unprivileged user."""
import contextlib
import glob
import os
import shutil
import subprocess
import tempfile

NOBODY = 65534


def programs():
    """The folder of its programs, which Debian keeps out of PATH; None: it is not installed."""
    found = shutil.which("initdb") or next(iter(sorted(glob.glob(
        "/usr/lib/postgresql/*/bin/initdb"))), None)
    return os.path.dirname(os.path.realpath(found)) if found else None


class Cluster:
    def __init__(self):
        self.place = tempfile.mkdtemp(prefix="trapline-pg-")
        if os.getuid() == 0:
            os.chown(self.place, NOBODY, NOBODY)
        self.data = os.path.join(self.place, "data")
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "trapline", "-N")
        self.run("pg_ctl", "-D", self.data, "-w", "-l", os.path.join(self.place, "log"), "-o",
                 f"-c listen_addresses='' -c unix_socket_directories='{self.place}'", "start")

    @staticmethod
    def run(name, *arguments):
        switch = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        subprocess.run((switch if os.getuid() == 0 else []) +
                       [os.path.join(programs(), name), *arguments], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", timeout=120)

    def pid(self):
        with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as file:
            return int(file.readline())

    def client(self, name, *arguments):
        return subprocess.run([os.path.join(programs(), name), "-h", self.place, "-U", "trapline", *arguments],
                              check=True, timeout=60, capture_output=True, text=True)

    def end(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        shutil.rmtree(self.place, ignore_errors=True)
