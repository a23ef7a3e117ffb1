# SPDX-License-Identifier: Apache-2.0
"""A program held to a share of a CPU by trapline, cpulimit and a cgroup: how near it comes, how long
it stands still, and how late that makes another thread of it. docs/benchmarks/throttle.md.

Takes four minutes; THROTTLE_PARTS chooses from `accuracy` and `latency`, and the other part is then as
measured before (docs/benchmarks/throttle.json)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from plot import plot  # noqa: E402

SECONDS = 10
SHARES = [5, 25, 50, 95]
SERVICE_SHARE = 25
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


def run(command, **keywords):
    output = subprocess.run(command, check=True, capture_output=True, text=True, **keywords).stdout
    return json.loads(output.splitlines()[-1])


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


def accuracy(found, program):
    return {name: {share: way(share, None, [program, "spin", str(SECONDS)]) for share in SHARES}
            for name, way in found.items()}


def error(result, share):
    """Relative to the share asked for, in percent."""
    return (result["share"] * 100 - share) / share * 100


def accuracy_table(results):
    lines = ["| asked for | " + " | ".join(f"{name}: got (off by), longest pause" for name in results)
             + " |", "|---" * (len(results) + 1) + "|"]
    for share in SHARES:
        cells = [f"{r[share]['share'] * 100:.2f} % ({error(r[share], share):+.1f} %), "
                 f"{r[share]['longest_ms']:.0f} ms" for r in results.values()]
        lines.append(f"| {share} % | " + " | ".join(cells) + " |")
    return lines


def service_table(rows):
    lines = ["| limited by | `front` late by, µs: median | 99 % | most | its wakes | `compress-…` got |",
             "|---" * 6 + "|"]
    for name, row in rows.items():
        lines.append(f"| {name} | {row['p50']:.0f} | {row['p99']:.0f} | {row['max']:.0f} | "
                     f"{row['wakes']} | {row['background'] * 100:.1f} % |")
    return lines


def latency(found, program):
    service = [program, "service", str(SECONDS)]
    rows = {"nothing": run(service)}
    rows["trapline, `--threads 'compress*'`"] = found["trapline"](SERVICE_SHARE, "compress*", service)
    for name, way in found.items():
        rows[f"{name}, the whole program"] = way(SERVICE_SHARE, None, service)
    return rows


def measure(build, path):
    program = str(build / "bench" / "throttle")
    measured = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    cgroup = Cgroup()
    try:
        found = ways(build, cgroup)
        for part in os.environ.get("THROTTLE_PARTS", "accuracy latency").split():
            measured[part] = globals()[part](found, program)
    finally:
        cgroup.close()
    measured["missing"] = [name for name in ("cpulimit",) if name not in found] + \
        ([] if cgroup.path else ["a cgroup"])
    path.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def main(build, docs):
    measured = measure(build, docs / "throttle.json")
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
            "the time that passed:", "", *accuracy_table(results), "",
            "![how far off](benchmarks/throttle-error.svg)", "",
            "![longest pause](benchmarks/throttle-pause.svg)", "",
            "A program with a thread `front`, which wants to run for a moment every millisecond, and two "
            f"`compress-…`, which spin, limited to {SERVICE_SHARE} % of a CPU. The others can limit only the "
            "whole program:", "", *service_table(rows), ""]
    if missing:
        text += [f"Not available here: {', '.join(missing)}.", ""]
    (docs / "throttle.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
