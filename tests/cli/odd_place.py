#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline works from a folder whose name has what LD_PRELOAD cannot name, in the program and in what that
executes; nothing of it shows in their environment or output.

usage: odd_place.py TRAPLINE AGENT…"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = ["sh", "-c", "ls /proc/self/exe; ls /proc/self/exe; env | grep -c LD_PRELOAD"]


def hits(trapline):
    """(what the program printed, how often its processes asked for a variable)"""
    run = subprocess.run([trapline, "watch", "libc.so.6:getenv:x", "--", *PROGRAM], capture_output=True, text=True,
                         timeout=60, check=False)
    found = re.search(r"getenv:x: (\d+) hits", run.stdout + run.stderr)
    assert found, run
    said = [line for line in run.stdout.splitlines() if line.startswith("/") or line.isdigit()]
    assert "ld.so" not in run.stderr + run.stdout, run
    return said, int(found.group(1))


def main():
    trapline, *agents = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        place = os.path.join(directory, "Größe 1: $HOME")
        os.makedirs(os.path.join(place, "lib"))
        os.makedirs(os.path.join(place, "bin"))
        shutil.copy2(trapline, os.path.join(place, "bin"))
        for agent in agents:
            shutil.copy2(agent, os.path.join(place, "lib"))
        links = f"/tmp/trapline-{os.geteuid()}"
        usual, odd = hits(trapline), hits(os.path.join(place, "bin", "trapline"))
        for link in map(os.path.join, [links] * 99, os.listdir(links)):
            if os.readlink(link).startswith(directory):
                os.unlink(link)
        assert usual == odd and usual[1] > 10, (usual, odd)


if __name__ == "__main__":
    sys.exit(main())
