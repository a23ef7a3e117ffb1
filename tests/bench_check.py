#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each benchmark finds the modules that it takes from the tests, and in them what it names: `make bench` runs for
an hour, and nobody does so for each change. usage: bench_check.py FOLDER"""
import ast
import os
import pathlib
import subprocess
import sys

# The script's own folder comes first on the path, as where it is run.
LOAD = """import runpy, sys
sys.path[0] = sys.argv[1]
loaded = runpy.run_path(sys.argv[2], run_name="loaded")
for module, name in (pair.split(".") for pair in sys.argv[3:]):
    if not hasattr(loaded[module], name):
        sys.exit(f"{module} has no {name}")
"""


def named(path):
    """MODULE.NAME of every imported module that stands in the file as a plain name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {alias.asname or alias.name for node in tree.body if isinstance(node, ast.Import)
               for alias in node.names if "." not in alias.name}
    return sorted({f"{node.value.id}.{node.attr}" for node in ast.walk(tree) if isinstance(node, ast.Attribute) and
                   isinstance(node.value, ast.Name) and node.value.id in modules})


def main():
    failed = 0
    folder = pathlib.Path(sys.argv[1]).resolve()
    for path in sorted(folder.glob("*.py")):
        run = subprocess.run([sys.executable, "-c", LOAD, str(folder), str(path), *named(path)], cwd="/", text=True,
                             stdin=subprocess.DEVNULL, capture_output=True, check=False,
                             env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        if run.returncode:
            failed += 1
            print(f"{path.name}: {run.stderr.strip().splitlines()[-1]}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
