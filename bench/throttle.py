# SPDX-License-Identifier: Apache-2.0
"""A program held to a share of a CPU by trapline, cpulimit and a cgroup: how near it comes, how long
it stands still, and how late that makes another thread of it. docs/benchmarks/throttle.md.

Takes five minutes; THROTTLE_PARTS chooses from `accuracy`, `beside` and `latency`, THROTTLE_SHARES shares,
and the rest is then as measured before (docs/benchmarks/throttle.json), as is what was measured while the
machine was quiet; without that file everything is measured. Where it never is quiet, as root: setsid nice
-n -19, which counts among the machine's sessions and groups as well here."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from plot import plot  # noqa: E402

SECONDS = 10
SHARES = [5, 25, 50, 95]
SERVICE_SHARE = 25
BESIDE = {"fork": "forks children of 5 ms each", "sleep": "sleeps 5 ms after each 5 ms", "block": "blocks all signals, "
          "as the first does"}
PARTS = "accuracy beside latency"
TRIES = 2
QUIET = 0.1  # of a CPU, used by others
CGROUP_ROOT = pathlib.Path("/sys/fs/cgroup")


class Cgroup:
    """cgroup v2's cpu.max, or v1's cpu.cfs_quota_us, which is the same in the kernel."""

    def __init__(self):
        self.path = None
        for parent in (CGROUP_ROOT, CGROUP_ROOT / "cpu"):
            path = parent / "trapline-bench"
            try:
                path.mkdir(exist_ok=True)
            except OSError:
                continue
            if (path / "cpu.max").exists() or (path / "cpu.cfs_quota_us").exists():
                self.path = path
                break
            path.rmdir()
        self.name = "cgroup cpu.max" if self.path and (self.path / "cpu.max").exists() \
            else "cgroup v1 cfs_quota"

    def come_first(self):
        for name, value in ("cpu.weight", 10000), ("cpu.shares", 262144):
            if (self.path / name).exists():
                (self.path / name).write_text(str(value))

    def limit(self, percent):
        if (self.path / "cpu.max").exists():
            (self.path / "cpu.max").write_text(f"{percent * 1000} 100000")
        else:
            (self.path / "cpu.cfs_period_us").write_text("100000")
            (self.path / "cpu.cfs_quota_us").write_text(str(percent * 1000))

    def enter(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        if self.path:
            self.path.rmdir()


def come_first(cgroup):
    """A nice value counts within a session only (sched(7), autogroup), and not between cgroups."""
    if os.getpriority(os.PRIO_PROCESS, 0) >= 0:
        return
    group = pathlib.Path("/proc/self/autogroup")
    if group.exists() and os.getsid(0) == os.getpid():
        group.write_text("-19")
    if cgroup.path:
        cgroup.come_first()


def busy_seconds():
    """CPU time of the whole machine so far."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(field) for field in file.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def run(command, **keywords):
    """Its figures, and what the rest of the machine used meanwhile, as a share of a CPU."""
    machine, own, begun = busy_seconds(), os.times(), time.monotonic()
    output = subprocess.run(command, check=True, capture_output=True, text=True, **keywords).stdout
    used = os.times()
    own = used.children_user + used.children_system - own.children_user - own.children_system
    result = json.loads(output.splitlines()[-1])
    elapsed = time.monotonic() - begun
    result["all"] = own / elapsed  # with what the limiting program used
    result["others"] = (busy_seconds() - machine - own) / elapsed
    return result


def run_quietly(before, way, *arguments):
    """Where others use the machine a program gets less than its share whoever limits it: try again,
    and keep the quietest, `before` included (a result of an earlier run, or None). With a high priority
    the others hardly matter."""
    if os.getpriority(os.PRIO_PROCESS, 0) < 0:
        return way(*arguments)
    results = [before] if before else []
    while len(results) < TRIES and not any(result["others"] < QUIET for result in results):
        results.append(way(*arguments))
    return min(results, key=lambda result: result["others"])


def ways(build, cgroup):
    """{name: function of percent, threads (a name pattern or None) and a command}"""
    def trapline(percent, threads, command):
        names = ["--threads", threads] if threads else []
        return run([str(build / "trapline"), "throttle", "--cpu", f"{percent}%", *names, "--", *command])

    def cpulimit(percent, _threads, command):
        return run(["cpulimit", "-q", "-f", "-l", str(percent), "--", *command])

    def grouped(percent, _threads, command):
        cgroup.limit(percent)
        return run(command, preexec_fn=cgroup.enter)  # pylint: disable=subprocess-popen-preexec-fn

    found = {"trapline": trapline}
    if shutil.which("cpulimit"):
        found["cpulimit"] = cpulimit
    if cgroup.path:
        found[cgroup.name] = grouped
    return found


def measured_shares():
    return [int(share) for share in os.environ.get("THROTTLE_SHARES", "").split()] or SHARES


def accuracy(found, program, before):
    spin = [program, "spin", str(SECONDS)]
    return {name: {str(share): run_quietly(before.get(name, {}).get(str(share)), way, share, None, spin)
                   for share in measured_shares()} for name, way in found.items()}


def beside(found, program, before):
    """A second thread does what could make it escape."""
    return {what: {str(share): run_quietly(before.get(what, {}).get(str(share)), found["trapline"], share, None,
                                           [program, "spin", str(SECONDS), what])
                   for share in measured_shares()} for what in BESIDE}


def error(result, share):
    """Relative to the share asked for, in percent."""
    return (result["share"] * 100 - share) / share * 100


def accuracy_table(results):
    lines = ["| asked for | " + " | ".join(f"{name}: got (off by), with the limiter's own, longest pause"
                                           for name in results)
             + " |", "|---" * (len(results) + 1) + "|"]
    for share in SHARES:
        cells = [f"{r[share]['share'] * 100:.2f} % ({error(r[share], share):+.1f} %), {r[share]['all'] * 100:.2f} %, "
                 f"{r[share]['longest_ms']:.0f} ms" for r in results.values()]
        lines.append(f"| {share} % | " + " | ".join(cells) + " |")
    return lines


def beside_table(measured):
    lines = ["| asked for | " + " | ".join(f"{BESIDE[what]}: got (off by)" for what in BESIDE) + " |",
             "|---" * (len(BESIDE) + 1) + "|"]
    for share in SHARES:
        rows = [measured[what][str(share)] for what in BESIDE]
        lines.append(f"| {share} % | " + " | ".join(f"{row['share'] * 100:.2f} % ({error(row, share):+.1f} %)"
                                                    for row in rows) + " |")
    return lines


def service_table(rows):
    lines = ["| limited by | `front` late by, µs: median | 99 % | most | its wakes | `compress-…` got |",
             "|---" * 6 + "|"]
    for name, row in rows.items():
        lines.append(f"| {name} | {row['p50']:.0f} | {row['p99']:.0f} | {row['max']:.0f} | "
                     f"{row['wakes']} | {row['background'] * 100:.1f} % |")
    return lines


def latency(found, program, before):
    service = [program, "service", str(SECONDS)]
    rows = {"nothing": (lambda *_: run(service), None),
            "trapline, `--threads 'compress*'`": (found["trapline"], "compress*")}
    rows.update({f"{name}, the whole program": (way, None) for name, way in found.items()})
    return {name: run_quietly(before.get(name), way, SERVICE_SHARE, threads, service)
            for name, (way, threads) in rows.items()}


def measure(build, path):
    program = str(build / "bench" / "throttle")
    measured = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    cgroup = Cgroup()
    come_first(cgroup)
    try:
        found = ways(build, cgroup)
        for part in os.environ.get("THROTTLE_PARTS", PARTS).split():
            rows = globals()[part](found, program, measured.get(part, {}))
            for name, row in rows.items():
                measured.setdefault(part, {}).setdefault(name, {}).update(row)
    finally:
        cgroup.close()
    measured["missing"] = [name for name in ("cpulimit",) if name not in found] + \
        ([] if cgroup.path else ["a cgroup"])
    path.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def complete(measured):
    accurate = [*measured.get("accuracy", {"": {}}).values(), *measured.get("beside", {"": {}}).values()]
    return "latency" in measured and all(str(share) in shares for shares in accurate for share in SHARES)


def others(measured):
    """The most that anything else used during a measurement."""
    rows = list(measured["latency"].values())
    for shares in [*measured["accuracy"].values(), *measured["beside"].values()]:
        rows += shares.values()
    return max(row["others"] for row in rows)


def main(build, docs):
    measured = measure(build, docs / "throttle.json")
    if not complete(measured):
        print("not all parts are measured yet")
        return
    rows, missing = measured["latency"], measured["missing"]
    results = {name: {int(share): row for share, row in shares.items()}
               for name, shares in measured["accuracy"].items()}
    plot(docs / "throttle-error.svg", f"Share of a CPU over {SECONDS} s: how far off", "percent asked for",
         "off by, percent of it", {name: [(share, max(abs(error(r[share], share)), 0.01))
                                          for share in SHARES] for name, r in results.items()}, log_y=True)
    plot(docs / "throttle-pause.svg", "Longest pause of a single thread", "percent asked for", "ms",
         {name: [(share, r[share]["longest_ms"]) for share in SHARES] for name, r in results.items()},
         log_y=True)
    text = ["## Throttling", "",
            "Reproduce: `make bench BENCHES=throttle` (with Debian's `cpulimit`, and as root for the "
            f"cgroup). A program of one thread that spins for {SECONDS} s and compares its CPU time with "
            "the time that passed. "
            f"Measured at nice {os.getpriority(os.PRIO_PROCESS, 0)}, while other processes used up to "
            f"{others(measured) * 100:.0f} % of a CPU:", "", *accuracy_table(results), "",
            "![how far off](benchmarks/throttle-error.svg)", "",
            "![longest pause](benchmarks/throttle-pause.svg)", "",
            "By trapline, two threads, of which one spins and the other (children that have ended included):", "",
            *beside_table(measured["beside"]), "",
            "A program with a thread `front`, which wants to run for a moment every millisecond, and two "
            f"`compress-…`, which spin, limited to {SERVICE_SHARE} % of a CPU. The others can limit only the "
            "whole program:", "", *service_table(rows), ""]
    if missing:
        text += [f"Not available here: {', '.join(missing)}.", ""]
    (docs / "throttle.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
