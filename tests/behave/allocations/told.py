# SPDX-License-Identifier: Apache-2.0
"""With `heap --all` every block is guarded, but the controller is told of one only where that is paid for.
usage: told.py TRAPLINE PROGRAM"""
import re
import subprocess
import sys

# As src/guard/choose.c and src/notice/guards.c have them: what telling of one is charged at least, ns; the
# share of the program's CPU time that may go there; what is lent.
LEAST, SHARE, LENT = 30_000, 0.3, 50_000_000


def main():
    trapline, program = sys.argv[1:]
    done = subprocess.run([trapline, "heap", "--all", "--tool-option", "whole=1", "-q", "--stats", "--", program], capture_output=True, text=True,
                          timeout=250, check=False)
    told = int((re.search(r"^ *(\d+)  notices", done.stderr, re.M) or [0, 0])[1])
    used = int(done.stdout)
    most = (used * SHARE + LENT) / LEAST
    print(f"{told} told, at most {most:.0f} in {used / 1e6:.0f} ms")
    if done.returncode or told == 0 or told > most:
        print(done.stderr)
        return 1
    return 0


sys.exit(main())
