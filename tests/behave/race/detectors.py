# SPDX-License-Identifier: Apache-2.0
"""How each race detector is started on a program, and what its reports say.

A detector's reports become findings: dicts with "class" and "accesses", each access a list of
frames (file base name, line, function), innermost first.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

ERROR_EXITCODE = 97


class Trapline:
    """`trapline race` with the given further options."""

    name = "trapline"
    sanitizer = None
    complete_stacks = True

    def __init__(self, command="trapline", options=()):
        self.command = command
        self.options = list(options)

    def line(self, program, output):
        return [self.command, "race", "-o", output, "--error-exitcode", str(ERROR_EXITCODE),
                *self.options, "--", *program]

    def environment(self, _output):
        return {}

    def findings(self, output):
        """What was reported so far; a last line still being written is left for the next time."""
        try:
            with open(output, encoding="utf-8", errors="replace") as stream:
                lines = stream.read().split("\n")[:-1]
        except FileNotFoundError:
            return []
        return [finding for finding in (convert_json(line) for line in lines) if finding]


class Attached(Trapline):
    """The same, attached to the program when that has run for a second."""

    def line(self, program, output):
        return [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "attached.py"), self.command,
                "-o", output, "--error-exitcode", str(ERROR_EXITCODE), *self.options, "--", *program]


def convert_json(line):
    try:
        report = json.loads(line)
    except ValueError:
        return None
    if report.get("kind") != "data-race":
        return None
    accesses = []
    for access in report.get("accesses", []):
        accesses.append([(os.path.basename(frame.get("file") or ""), frame.get("line") or 0,
                          frame.get("function") or "") for frame in access.get("stack", [])])
    # Those known of runtimes (libgomp's, each with its reason) are not shown by default either.
    return {"class": "known" if report.get("known") else report.get("class"),
            "accesses": accesses, "raw": report}


class ThreadSanitizer:
    """A build with -fsanitize=thread; addresses are not randomised, its shadow demands it."""

    name = "tsan"
    sanitizer = "thread"
    complete_stacks = False
    frame = re.compile(r"^\s+#\d+ (.*?) (?:\S*/)?([^/\s]+?):(\d+)(?::\d+)? ")

    def __init__(self, options=""):
        self.options = options

    def line(self, program, _output):
        return ["setarch", "-R", *program]

    def environment(self, output):
        return {"TSAN_OPTIONS": f"log_path={output} exitcode=0 report_signal_unsafe=0 "
                                f"external_symbolizer_path=/usr/bin/llvm-symbolizer {self.options}"}

    def findings(self, output):
        directory, stem = os.path.split(output)
        found = []
        for name in os.listdir(directory or "."):
            if name.startswith(stem + "."):
                with open(os.path.join(directory, name), encoding="utf-8",
                          errors="replace") as stream:
                    found += self.parse(stream.read())
        return found

    def parse(self, text):
        found = []
        for block in text.split("=" * 18):
            if "WARNING: ThreadSanitizer: data race" not in block or "SUMMARY" not in block:
                continue
            accesses, current = [], None
            for line in block.splitlines():
                if re.match(r"^  \S", line):
                    current = None
                    if re.match(r"^  (?:Previous |Atomic )?(?:atomic )?(?:read|write|Read|Write)",
                                line) or " of size " in line:
                        current = []
                        accesses.append(current)
                match = self.frame.match(line)
                if match and current is not None:
                    current.append((match.group(2), int(match.group(3)), match.group(1)))
            found.append({"class": "definite", "accesses": accesses[:2], "raw": block})
        return found


class Valgrind:
    """Helgrind or DRD; DRD shows one access and the other thread's segment, not its access."""

    sanitizer = None
    complete_stacks = False

    def __init__(self, tool):
        self.name = tool

    def line(self, program, output):
        return ["valgrind", f"--tool={self.name}", "--xml=yes", f"--xml-file={output}",
                "--child-silent-after-fork=yes", "--fair-sched=try", *program]

    def environment(self, _output):
        return {}

    def findings(self, output):
        try:
            with open(output, encoding="utf-8", errors="replace") as stream:
                text = stream.read()
        except FileNotFoundError:
            return []
        found = []
        for block in re.findall(r"<error>.*?</error>", text, re.S):
            try:
                error = xml.etree.ElementTree.fromstring(block)
            except xml.etree.ElementTree.ParseError:
                continue
            if error.findtext("kind") not in ("Race", "ConflictingAccess"):
                continue
            accesses = [[(frame.findtext("file") or "", int(frame.findtext("line") or 0),
                          frame.findtext("fn") or "") for frame in stack.findall("frame")]
                        for stack in error.findall("stack")]
            accesses = accesses[:2] if self.name == "helgrind" else accesses[:1]
            found.append({"class": "definite", "accesses": accesses, "raw": block})
        return found


def own_frames(program, access):
    """The frames of an access in the program's own sources, of its innermost eight."""
    files = program.own_files()
    return [frame for frame in access[:8] if frame[0] in files]


def match(program, marks, finding):
    """ "full" if all accesses are on marked lines that share a label; "partial" if that holds of
    one and the other's stack shows no line of the program; else None."""
    shared, blind = None, 0
    for access in finding["accesses"]:
        frames = own_frames(program, access)
        if not frames:
            blind += 1
            continue
        labels = set()
        for file, line, _ in frames:
            labels |= marks.get((file, line), set())
        shared = labels if shared is None else shared & labels
    if not shared:
        return None
    return "partial" if blind else "full"


def describe(program, finding):
    """The places of a finding, in a few words."""
    places = []
    for access in finding["accesses"]:
        frames = own_frames(program, access) or access[:1]
        places.append(f"{frames[0][0]}:{frames[0][1]}" if frames else "?")
    return " / ".join(places)


class Run:
    """One program under one detector for a given time."""

    def __init__(self, detector, program, binary, output):
        self.detector = detector
        self.program = program
        self.binary = binary
        self.output = output
        self.marks = program.marks()
        self.first = None       # seconds to the first expected finding shown by default
        self.first_possible = None  # … of any class
        self.expected = []
        self.partial = []       # expected, but one side's stack stops short of the program
        self.false = []
        self.hidden = []
        self.status = None
        self.seconds = 0.0
        self.stderr = ""

    def classify(self, elapsed):
        self.expected, self.partial, self.false, self.hidden = [], [], [], []
        for finding in self.detector.findings(self.output):
            matched = match(self.program, self.marks, finding)
            if matched == "partial" and not self.detector.complete_stacks:
                matched = "full"
            expected = matched == "full"
            shown = finding["class"] in ("definite", "likely")
            if expected and self.first_possible is None:
                self.first_possible = elapsed
            if not shown:
                self.hidden.append(finding)
            elif matched == "partial":
                self.partial.append(finding)
            elif expected:
                self.expected.append(finding)
                if self.first is None:
                    self.first = elapsed
            else:
                self.false.append(finding)

    def run(self, seconds, stop=False, prefix=(), patience=30):
        """Runs to the end, or until the first expected finding if `stop`."""
        command = [self.binary, str(seconds), str(self.program.threads)]
        environment = {**os.environ, **self.detector.environment(self.output)}
        errors = self.output + ".stderr"
        start = time.monotonic()
        with open(errors, "wb") as stream:
            process = subprocess.Popen([*prefix, *self.detector.line(command, self.output)],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=stream, env=environment, start_new_session=True)
            stopped = self.follow(process, start, seconds + patience, stop)
        self.seconds = time.monotonic() - start
        self.classify(self.seconds)
        self.status = "stopped" if stopped else process.returncode
        with open(errors, encoding="utf-8", errors="replace") as stream:
            self.stderr = stream.read()
        return self

    def follow(self, process, start, limit, stop):
        while process.poll() is None:
            elapsed = time.monotonic() - start
            if self.first is None:
                self.classify(elapsed)
            if stop and self.first is not None:
                end(process)
                return True
            if elapsed > limit:
                end(process)
                process.returncode = "timeout"
                return False
            time.sleep(0.05)
        return False


def end(process):
    """Ends the process and all it started, the polite way first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
