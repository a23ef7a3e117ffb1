#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one test and fails it for what no test looks at by itself: an error of its own that ended a
`trapline` or a companion, in whatever run and wherever its standard error went, and a process that
is left behind, whatever session or parent it has.

usage: tests/guard.py TEST ARGUMENTS…      as tests/meson.build does with every test

Processes are known by a variable of their environment. The errors are those that Trapline appends to
the file that TRAPLINE_ERRORS names. The test's own exit status is kept where nothing was wrong.

A test that needs watchpoints has the program that probes for them in its environment, by WATCHPOINT_PROBE
(tests/meson.build). Where none fires it skips, or fails if TRAPLINE_REQUIRE_HARDWARE is 1. With
TRAPLINE_EMULATE=1 the emulated machine of scripts/vm-run, whose watchpoints fire, runs it instead, guarded
there like here; those that have NEEDS_REAL_PROCESSOR set skip. TRAPLINE_EMULATED tells a test where it is."""
import os
import signal
import subprocess
import sys
import tempfile
import time

# Seconds for what still ends by itself: a companion ends after its last process.
PATIENCE = float(os.environ.get("GUARD_PATIENCE", "20"))
MARK = "GUARDED_TEST"
SKIPPED = 77
MACHINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts", "vm-run")
# Seconds that an emulated machine may take. Meson ends a test that hangs before that.
MACHINE_PATIENCE = "3000"


def is_marked(pid, mark):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:
        return False  # it has ended, or is another user's


def is_zombie(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def left_behind(mark):
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if pid != os.getpid() and is_marked(pid, mark) and not is_zombie(pid)]


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def wait_for_leftovers(mark):
    """Those that did not end by themselves; they are ended."""
    until = time.monotonic() + PATIENCE
    pids = left_behind(mark)
    if not pids:
        # A process has no environment at the moment that it executes a program.
        time.sleep(0.05)
        pids = left_behind(mark)
    while pids and time.monotonic() < until:
        time.sleep(0.1)
        pids = left_behind(mark)
    told = [f"{pid} {command_of(pid)}" for pid in pids]
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return told


def take_signals():
    """As a terminal's program has them: nohup, and shells without job control, leave these ignored."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def is_without_watchpoints():
    probe = os.environ.get("WATCHPOINT_PROBE")
    return bool(probe) and subprocess.run([probe], check=False).returncode != 0


def emulated():
    """In a machine that sees this one's files and may write here, where Meson runs tests: in the build directory."""
    environment = {**os.environ, "TRAPLINE_REQUIRE_HARDWARE": "1", "TRAPLINE_EMULATED": "1"}
    # This interpreter itself: `python3` may be a script that looks for it, which takes seconds there.
    command = [sys.executable if os.path.basename(word) == "python3" else word for word in sys.argv[1:]]
    return subprocess.run([MACHINE, "--host", "--writable", os.getcwd(), "--timeout", MACHINE_PATIENCE,
                           "--memory", "3072", sys.executable, os.path.abspath(__file__), *command],
                          env=environment, check=False).returncode


def without_watchpoints():
    """What a test that needs them comes to on a machine where none fires."""
    if os.environ.get("TRAPLINE_REQUIRE_HARDWARE") == "1":
        print("guard: no watchpoint fires on this machine", file=sys.stderr)
        return 1
    if os.environ.get("TRAPLINE_EMULATE") != "1":
        print("skipped: no watchpoint fires on this machine")
        return SKIPPED
    if os.environ.get("NEEDS_REAL_PROCESSOR"):
        print("skipped: no watchpoint fires on this machine, and an emulated one says nothing about this")
        return SKIPPED
    return emulated()


def guarded():
    mark = f"{os.getpid()}.{time.monotonic_ns()}"
    with tempfile.NamedTemporaryFile(prefix="guard-errors-") as errors:
        os.chmod(errors.name, 0o666)
        # A guard above sees what this one's test leaves as well, by the outer mark that is lost here.
        environment = {**os.environ, MARK: mark, "TRAPLINE_ERRORS": errors.name}
        status = subprocess.run(sys.argv[1:], env=environment, check=False, preexec_fn=take_signals).returncode
        wrong = [f"left behind: {line}" for line in wait_for_leftovers(f"{MARK}={mark}".encode())]
        wrong += errors.read().decode(errors="replace").splitlines()
    for line in wrong:
        print(f"guard: {line}", file=sys.stderr)
    if wrong:
        return 1
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(without_watchpoints() if is_without_watchpoints() else guarded())
