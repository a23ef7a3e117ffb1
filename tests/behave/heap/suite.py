# SPDX-License-Identifier: Apache-2.0
"""The cases of this suite: the manifest, how each is built, and what its findings must say."""

import glob
import os
import re
import shutil
import subprocess
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
SHARED = ("mistakes.h", "accesses.h", "suite.py")
WARNINGS = ["-Wall", "-Wextra", "-Wno-unknown-warning-option", "-Wno-use-after-free",
            "-Wno-free-nonheap-object", "-Wno-mismatched-new-delete", "-Wno-stringop-overflow"]
LOCK = threading.Lock()


class Case:
    """One line of the manifest."""

    def __init__(self, line):
        fields = line.split()
        self.source, self.compiler, self.optimisation, self.name, self.kind = fields[:5]
        options = dict(field.partition("=")[::2] for field in fields[5:])
        self.quick = "quick" in options
        self.side = options.get("side")
        self.size = int(options["size"]) if "size" in options else None
        self.offset = int(options["offset"]) if "offset" in options else None
        self.length = int(options["length"]) if "length" in options else None
        self.stacks = {name: options[name] for name in ("access", "allocated", "freed") if name in options}
        self.asan_blind = options.get("asan")
        self.preload = options.get("preload")
        self.stripped = "stripped" in options
        self.fixed = "fixed" in options
        self.may_be_possible = "doubtful" in options
        self.is_error = self.kind != "nothing"

    def label(self):
        preload = (f" {self.preload}" if self.preload else "") + (" stripped" if self.stripped else "") \
            + (" fixed" if self.fixed else "")
        return f"{self.source}:{self.name} ({self.compiler} {self.optimisation}{preload})"

    def library_source(self):
        path = os.path.join(HERE, os.path.splitext(self.source)[0] + ".lib.c")
        return path if os.path.exists(path) else None

    def own_files(self):
        library = self.library_source()
        return {self.source, "accesses.h"} | ({os.path.basename(library)} if library else set())


def load(patterns=(), quick=False, kind=None):
    """The manifest's cases whose label contains one of the patterns."""
    with open(os.path.join(HERE, "manifest"), encoding="utf-8") as manifest:
        cases = [Case(line) for line in manifest if line.strip() and not line.startswith("#")]
    if quick:
        cases = [case for case in cases if case.quick]
    if kind:
        cases = [case for case in cases if case.is_error == (kind == "errors")]
    return [case for case in cases if not patterns or any(text in case.label() for text in patterns)]


def rustc():
    """The Rust compiler: from PATH, or where rustup puts it."""
    return shutil.which("rustc") or shutil.which(
        "rustc", path=os.path.expanduser("~/.cargo/bin") + ":/root/.cargo/bin")


def library_path(name):
    """Where the shared library is, in the loader's folders or among clang's, or None."""
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib",
                   *sorted(glob.glob("/usr/lib/llvm-*/lib/clang/*/lib/linux"))):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None


def missing(case):
    """Why the case cannot run here, or None."""
    if case.preload and not library_path(case.preload):
        return f"no {case.preload}"
    if case.compiler == "rustc":
        return None if rustc() else "no rustc"
    return None if shutil.which(case.compiler) else f"no {case.compiler}"


def build(case, directory, sanitizer=None):
    """Builds the case's program where it is missing or older than its sources; returns its path."""
    name = "-".join([case.source.replace(".", "-"), case.compiler + case.optimisation]
                    + (["stripped"] if case.stripped else [])
                    + (["fixed"] if case.fixed else []) + ([sanitizer] if sanitizer else []))
    output = os.path.join(directory, name)
    inputs = [os.path.join(HERE, file) for file in (case.source, *SHARED)]
    library = case.library_source()
    inputs += [library] if library else []
    with LOCK:
        if os.path.exists(output) and all(
                os.path.getmtime(path) <= os.path.getmtime(output) for path in inputs):
            return output
        os.makedirs(directory, exist_ok=True)
        for command in commands(case, output, library, sanitizer):
            result = subprocess.run(command, stderr=subprocess.PIPE, check=False)
            if result.returncode:
                raise RuntimeError(f"cannot build {case.source}: {' '.join(command)}\n"
                                   + result.stderr.decode(errors="replace"))
    return output


def commands(case, output, library, sanitizer):
    """The compiler command lines, the library first."""
    source = os.path.join(HERE, case.source)
    if case.compiler == "rustc":
        return [[rustc(), "--edition", "2021", "-g", "-C",
                 "opt-level=" + case.optimisation.removeprefix("-O"), "-o", output, source]]
    flags = ["-g", case.optimisation, "-pthread", "-D_GNU_SOURCE", *WARNINGS]
    if case.compiler == "gcc":
        flags += ["-fno-ipa-icf"]  # functions that do the same stay two
    if case.stripped:
        flags += ["-s"]
    if case.fixed:
        flags += ["-fno-pie", "-no-pie", "-Wno-unused-command-line-argument"]
    if sanitizer:
        flags += [f"-fsanitize={sanitizer}"]
    front, standard = case.compiler, "-std=gnu11"
    if case.source.endswith(".cpp"):
        front, standard = {"gcc": "g++", "clang": "clang++"}[case.compiler], "-std=gnu++17"
        flags += ["-fsized-deallocation"]
    if not library:
        return [[front, standard, *flags, "-o", output, source, "-ldl"]]
    shared = output + ".lib.so"
    return [[front, standard, *flags, "-fPIC", "-shared", "-o", shared, library],
            # One that the program itself takes nothing from lies beside it, to be loaded later.
            [front, standard, *flags, "-o", output, source, "-Wl,--as-needed", shared, "-ldl"]]


def number(value):
    return int(value, 0) if isinstance(value, str) else value


def names_function(frame, name):
    """C++ and Rust print a scope in front and parameters, or a hash, behind."""
    return re.search(rf"(^|::|\s){re.escape(name)}(\(|\[|$|::h[0-9a-f]+$)", frame.get("function") or "")


def own_frame(case, stack):
    """The innermost frame in the program's own sources. Of a process that was gone before its code was read a frame is
    an address, as text."""
    for frame in stack or []:
        if isinstance(frame, dict) and os.path.basename(frame.get("file") or "") in case.own_files():
            return frame
    return None


def stacks_of(finding):
    """The three stacks that a finding tells, by their name in the manifest."""
    block = finding.get("object") or {}
    accesses = finding.get("accesses") or [{}]
    return {"access": accesses[0].get("stack"), "allocated": block.get("stack"),
            "freed": (block.get("freed") or {}).get("stack")}


def complaints(case, finding):
    """What the finding says wrongly, in words; empty when all of it is right."""
    wrong = []
    if finding.get("kind") != case.kind:
        return [f"{finding.get('kind')}, not {case.kind}"]
    if finding.get("class") == "possible":
        wrong.append("only possible: hidden unless asked for")
    if case.side and finding.get("side") != case.side:
        wrong.append(f"side {finding.get('side')}, not {case.side}")
    block = finding.get("object") or {}
    access = (finding.get("accesses") or [{}])[0]
    if case.size is not None and block.get("size") != case.size:
        wrong.append(f"size {block.get('size')}, not {case.size}")
    start, at = number(block.get("address")), number(access.get("address"))
    wrong += wrong_words(finding, block, start, at)
    if access.get("unseen", False) != (finding.get("strategy") == "pattern"):
        wrong.append("not said whether who wrote was seen")
    if case.stacks.get("access") != "-":
        wrong += wrong_place(case, start, at, access.get("size") or 0)
    for name, function in case.stacks.items():
        function, _, unseen = function.partition("|")
        if function == "-" or (unseen and access.get("unseen")):
            continue
        frame = own_frame(case, stacks_of(finding)[name])
        if frame is None:
            wrong.append(f"no stack of the program: {name}")
        elif not names_function(frame, function):
            wrong.append(f"{name} in {frame.get('function')}, not {function}")
    return wrong


def amount(count):
    return f"{count} byte" + ("" if count == 1 else "s")


def wrong_words(finding, block, start, at):
    """Does the message say where the block was misused, as the numbers beside it do?"""
    size, message = block.get("size"), finding.get("message") or ""
    if block.get("kind") != "heap" or None in (size, start, at) or finding.get("kind") in ("double-free", "mismatched-free"):
        return []
    place = f"{amount(start - at)} before" if at < start else \
        f"{amount(at - start)} inside" if at < start + size else f"{amount(at - start - size)} after"
    use = finding.get("kind") == "heap-use-after-free"
    freed = "freed " if use or (finding.get("kind") == "invalid-free" and block.get("freed")) else ""
    words = f"{place} a {freed}block of {amount(size)}"
    return [] if words in message else [f"not '{words}' in '{message}'"]


def wrong_place(case, start, at, length):
    """Does the access lie where the case makes it, or, of a function of libc's, reach out at all?"""
    if case.size is None:
        return []
    if start is None or at is None:
        return ["no addresses"]
    if case.length is not None and length != case.length:
        return [f"{length} bytes, not {case.length}"]
    if case.offset is not None:
        return [] if at - start == case.offset else [f"at {at - start}, not {case.offset}"]
    if case.kind == "heap-use-after-free":
        return [] if start <= at < start + case.size else [f"at {at - start}, not in the block"]
    first = start + case.size if case.side == "after" else start - 1
    return [] if at <= first < at + length else [f"{length} bytes at {at - start} have not the first one outside"]
