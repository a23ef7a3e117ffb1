# SPDX-License-Identifier: Apache-2.0
"""Detection rates of `trapline race` at default options, measured for bench/fleet.py.

Each run goes on to the first expected finding or to a limit; a rate is findings over seconds run, the
maximum-likelihood estimate where finding is a Poisson process and some runs were cut off."""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "behave" / "race"), str(ROOT / "tests" / "real")]
import applications  # noqa: E402  pylint: disable=wrong-import-position
import detectors  # noqa: E402  pylint: disable=wrong-import-position
import suite  # noqa: E402  pylint: disable=wrong-import-position

# Of the race of known frequency: runs and the limit of each in seconds.
KNOWN = {1000.0: (8, 10), 300.0: (8, 30), 100.0: (8, 100)}
RARE = {30.0: (4, 210)}
SUITE_REPEAT, SUITE_SECONDS = 2, 10
SERVER_REPEAT, SERVER_SECONDS = 6, 36


def rate_of(times, limit):
    """Findings a second; of no finding, what half a finding would have been: an upper bound."""
    found = [value for value in times if value is not None]
    seconds = sum(found) + limit * (len(times) - len(found))
    return max(len(found), 0.5) / seconds


def has_shown(path):
    """Whether a finding that is shown by default is in the file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            return any(json.loads(line).get("class") in ("definite", "likely")
                       for line in lines if line.endswith("\n"))
    except (FileNotFoundError, ValueError):
        return False


def time_to_find(command, program, limit):
    """Seconds to the first finding shown by default, or None."""
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        output = os.path.join(folder, "out.jsonl")
        start = time.monotonic()
        with subprocess.Popen([command, "race", "-q", "-o", output, "--", *program], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and not has_shown(output) and time.monotonic() - start < limit:
                time.sleep(0.02)
            taken = time.monotonic() - start
            process.send_signal(signal.SIGTERM)
        return taken if has_shown(output) and taken < limit else None


def measure_frequencies(build, jobs, chosen):
    """{frequency: {"limit", "times"}} of the race whose frequency is set."""
    program = str(build / "bench" / "fleet_race")
    work = [(frequency, limit) for frequency, (runs, limit) in chosen.items() for _ in range(runs)]
    with ThreadPoolExecutor(jobs) as pool:
        times = list(pool.map(lambda item: time_to_find(
            str(build / "trapline"), [program, str(item[1] + 5), str(item[0])], item[1]), work))
    known = {}
    for (frequency, limit), taken in zip(work, times):
        known.setdefault(f"{frequency:g}", {"limit": limit, "times": []})["times"].append(taken)
    return known


def measure_suite(build, jobs):
    """The racing programs of tests/behave/race that need no privilege."""
    tool = detectors.Trapline(str(build / "trapline"))
    work = []
    for program in suite.load(kind="racing"):
        if not suite.compiler_missing(program) and not program.needs_kernel:
            work += [(program, suite.build(program, str(ROOT / "build-race"), None))] * SUITE_REPEAT

    def run(item):
        with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
            return detectors.Run(tool, *item, os.path.join(folder, "out")).run(SUITE_SECONDS, stop=True).first

    with ThreadPoolExecutor(jobs) as pool:
        return {"limit": SUITE_SECONDS, "programs": len(work) // SUITE_REPEAT, "times": list(pool.map(run, work))}


class Watched(applications.Memcached):
    """memcached under its load until something is found or the time is over."""

    def __init__(self, trapline):
        self.trapline = trapline
        self.first = None

    def once(self):
        self.first = None
        with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
            os.chmod(folder, 0o777)
            self.run([self.trapline, "race", "-q", "--show", "all", "-o", os.path.join(folder, "out"), "--"],
                     folder, SERVER_SECONDS)
        return self.first

    def load(self, outcome, folder, port, seconds):
        client = applications.load_client(folder)
        start = time.monotonic()
        with subprocess.Popen([client, str(port), str(seconds), "2", "8"], stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and self.first is None:
                if os.path.exists(os.path.join(folder, "out")) and os.path.getsize(os.path.join(folder, "out")):
                    self.first = time.monotonic() - start
                time.sleep(0.05)
            process.kill()


def measure_server(build, _jobs):
    """Debian's memcached, stripped: a finding of any class counts, which is `possible` without lines."""
    server = Watched(str(build / "trapline"))
    return {"limit": SERVER_SECONDS, "version": server.version(), "times": [server.once() for _ in range(SERVER_REPEAT)]}


PARTS = {"known": lambda build, jobs: measure_frequencies(build, jobs, KNOWN),
         "rare": lambda build, jobs: measure_frequencies(build, jobs, RARE),
         "suite": measure_suite, "server": measure_server}


def measure(build, path, parts, jobs=4):
    """Measures some parts anew and keeps the others of the file."""
    data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for part in parts or PARTS:
        data[part] = PARTS[part](build, jobs)
        path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        print(part, json.dumps(data[part]), flush=True)


def median(times, limit):
    """Of runs, some of them cut off at the limit."""
    return statistics.median(limit if value is None else value for value in times)
