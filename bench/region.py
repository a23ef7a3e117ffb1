# SPDX-License-Identifier: Apache-2.0
"""A region's hit beside a bare protection-key handler: docs/benchmarks/region.md."""
import json
import pathlib
import subprocess
import sys


def has_keys():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return any(line.startswith("flags") and " ospke" in line for line in file)


def measure(program):
    """(found, unit, where), or None."""
    if has_keys():
        command, unit, where = [program], "ns", "measured on this machine"
    else:
        command = [str(pathlib.Path(__file__).parent.parent / "scripts" / "vm-run"),
                   "--count", "--smp", "1", "--timeout", "500", program]
        unit = "instructions"
        where = ("this machine's CPU has no protection keys, so instructions, the kernel's included, are counted "
                 "in the emulated one of `scripts/vm-run --count`; on a real CPU the traps weigh more than their "
                 "instructions, which brings the ratio of a hit nearer to 1")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 77:
        print(f"region: not measured: {done.stderr.strip()}", file=sys.stderr)
        return None
    done.check_returncode()
    return json.loads(done.stdout), unit, where


def main(build, docs):
    measured = measure(str(build / "bench" / "region"))
    if not measured:
        return
    found, unit, where = measured
    text = ["## Regions", "",
            f"Reproduce: `make bench BENCHES=region`. Medians of one run in which the measurements took turns; {where}.",
            "", f"| | {unit} | ratio |", "|---|---|---|",
            f"| an access, bare SIGSEGV and SIGTRAP handlers that open and close a key | {found['bare']} | 1 |",
            f"| an access to a region, decoded, with an empty callback | {found['library']} | "
            f"{found['library'] / found['bare']:.2f} |",
            f"| a system call (getppid), no region open | {found['call']} | 1 |",
            f"| the same while a region is open | {found['covered']} | {found['covered'] / found['call']:.1f} |", ""]
    (docs / "region.md").write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
