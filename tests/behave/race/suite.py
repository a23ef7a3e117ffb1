# SPDX-License-Identifier: Apache-2.0
"""The programs of this suite: the manifest, the marked lines, and how each is built."""

import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
MARK = re.compile(r"(?:/\*|//) RACE ([a-z](?: [a-z])*)")
CXX = {"gcc": "g++", "clang": "clang++"}


def rustc():
    """The Rust compiler: from PATH, or where rustup puts it."""
    return shutil.which("rustc") or shutil.which(
        "rustc", path=os.path.expanduser("~/.cargo/bin") + ":/root/.cargo/bin")


class Program:
    """One line of the manifest."""

    def __init__(self, line):
        fields = line.split()
        self.source, self.compiler, self.optimisation = fields[:3]
        self.threads = int(fields[3])
        options = dict(field.split("=", 1) for field in fields[4:])
        self.libraries = options.get("libs", "").split(",") if "libs" in options else []
        self.needs_kernel = options.get("needs") == "kernel"
        self.tsan_blind = options.get("tsan")
        self.seconds = float(options["seconds"]) if "seconds" in options else None
        self.racing = self.source.startswith("racing/")
        self.name, self.extension = os.path.splitext(self.source)

    def path(self):
        return os.path.join(HERE, self.source)

    def extra_sources(self):
        """Sources of the shared library (.lib.c) and of the dlopen()ed module (.plugin.c)."""
        found = []
        for kind in ("lib", "plugin"):
            path = os.path.join(HERE, f"{self.name}.{kind}.c")
            if os.path.exists(path):
                found.append((kind, path))
        return found

    def marks(self):
        """{(file name, line): set of labels} of every marked line."""
        marks = {}
        for path in [self.path()] + [path for _, path in self.extra_sources()]:
            with open(path, encoding="utf-8") as source:
                for number, line in enumerate(source, 1):
                    match = MARK.search(line)
                    if match:
                        marks[os.path.basename(path), number] = set(match.group(1).split())
        return marks

    def own_files(self):
        return {os.path.basename(self.path())} | {
            os.path.basename(path) for _, path in self.extra_sources()}

    def variant(self, compiler=None, optimisation=None):
        """The same program built another way; Rust has one compiler."""
        other = Program.__new__(Program)
        other.__dict__.update(self.__dict__)
        if compiler and self.compiler != "rustc":
            other.compiler = compiler
        other.optimisation = optimisation or self.optimisation
        return other

    def label(self):
        return f"{self.source} ({self.compiler} {self.optimisation})"


def load(patterns=(), kind=None):
    """The manifest's programs whose source contains one of the patterns."""
    programs = []
    with open(os.path.join(HERE, "manifest"), encoding="utf-8") as manifest:
        for line in manifest:
            if line.strip() and not line.startswith("#"):
                programs.append(Program(line))
    if kind:
        programs = [p for p in programs if p.racing == (kind == "racing")]
    if patterns:
        programs = [p for p in programs if any(pattern in p.source for pattern in patterns)]
    return programs


def compiler_missing(program):
    """Why the program cannot be built here, or None."""
    if program.compiler == "rustc":
        return None if rustc() else "no rustc"
    return None if shutil.which(program.compiler) else f"no {program.compiler}"


def build(program, directory, sanitizer=None):
    """Builds the program where it is missing or older than its sources; returns its path."""
    name = "-".join([program.name.replace("/", "-") + program.extension.replace(".", "-"),
                     program.compiler + program.optimisation] + ([sanitizer] if sanitizer else []))
    output = os.path.join(directory, name)
    inputs = [program.path()] + [os.path.join(HERE, name) for name in
                                 ("harness.h", "harness.rs", "pairs.h", "suite.py")]
    inputs += [path for _, path in program.extra_sources()]
    if os.path.exists(output) and all(
            os.path.getmtime(path) <= os.path.getmtime(output) for path in inputs):
        return output
    os.makedirs(directory, exist_ok=True)
    for command in commands(program, output, sanitizer):
        environment = dict(os.environ)
        if program.compiler == "rustc" and sanitizer:
            environment["RUSTC_BOOTSTRAP"] = "1"
        result = subprocess.run(command, stderr=subprocess.PIPE, env=environment, check=False)
        if result.returncode:
            raise RuntimeError(f"cannot build {program.source}: {' '.join(command)}\n"
                               + result.stderr.decode(errors="replace"))
    return output


def commands(program, output, sanitizer):
    """The compiler command lines, the libraries first."""
    if program.compiler == "rustc":
        line = [rustc(), "--edition", "2021", "-g", "-C",
                "opt-level=" + program.optimisation.lstrip("-O"), "-o", output, program.path()]
        if sanitizer:
            line += ["-Z", f"sanitizer={sanitizer}"]
            if "unsafe-allow-abi-mismatch" in subprocess.run(
                    [rustc(), "-C", "help"], capture_output=True, text=True, check=False).stdout:
                line += ["-C", "unsafe-allow-abi-mismatch=sanitizer"]
        return [line]
    flags = ["-g", program.optimisation, "-pthread", "-Wall", "-Wextra"]
    if sanitizer:
        flags.append(f"-fsanitize={sanitizer}")
    lines = []
    libraries = list(program.libraries)
    for kind, path in program.extra_sources():
        module = f"{output}.{kind}.so"
        lines.append([program.compiler, *flags, "-fPIC", "-shared", "-o", module, path])
        if kind == "lib":
            libraries = [module, *libraries]
    front = CXX[program.compiler] if program.extension == ".cpp" else program.compiler
    standard = "-std=gnu++17" if program.extension == ".cpp" else "-std=gnu11"
    lines.append([front, standard, "-D_GNU_SOURCE", *flags, "-o", output, program.path(),
                  *libraries])
    return lines
