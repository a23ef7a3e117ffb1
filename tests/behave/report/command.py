#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trapline report` on files: formats, merging, suppressions, baselines, bad input, raw recordings.

usage: tests/behave/report/command.py build/trapline"""
import json
import os
import re
import stat
import subprocess
import tempfile
import unittest

from sample import ROOT, finding, parse, report, write


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = lambda name: os.path.join(self.folder.name, name)

    def file(self, findings, name="findings.jsonl"):
        return write(self.path(name), findings)

    def test_text(self):
        result = report(self.file([finding(1), finding(2)]))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("data race, "), 2)
        self.assertIn("write_1", result.stdout)
        self.assertIn("variable_2", result.stdout)
        self.assertNotIn("\033", result.stdout)
        with open(os.path.join(ROOT, "src/store/set.c"), encoding="utf-8") as source:
            self.assertIn(source.read().split("\n")[20].strip(), result.stdout)

    def test_issue(self):
        file = self.file([finding(1), finding(2)])
        [ident] = [one["id"] for one in parse(report(file, "--format", "jsonl")) if "write_1" in json.dumps(one)]
        result = report(file, "--issue", ident)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("# data-race: `write_1` (`set.c`:21) and `read_1` (`set.c`:21)\n"))
        self.assertNotIn("variable_2", result.stdout)
        for part in ("| `/usr/bin/server` | `ab12` |", f"`{ident}`", "->     21  ", "## The code"):
            self.assertIn(part, result.stdout)
        ranked = report(self.file([finding(2, rank=10)], "ranked.jsonl"), "--format", "markdown").stdout
        self.assertIn("Rank 10 among the possible", ranked)
        for wrong in ("", "xyz", "0" * 17):
            self.assertEqual(report(file, "--issue", wrong or "-").returncode, 2)

    def test_issue_of_an_id_that_no_finding_has(self):
        file = write(self.path("a.jsonl"), [finding(1)])
        for ident in ("0123456789abcdef", "ffff*"):
            result = report(file, "--issue", ident)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn(f"no finding has the id {ident}", result.stderr)
        self.assertEqual(report(file, "--issue", "").returncode, 2)

    def test_issue_names_versions(self):
        """Package and version of each file that is here as it was seen, and the kernel where it was seen here."""
        with open("/proc/self/maps", encoding="utf-8") as maps:
            libc = next(line.split()[-1] for line in maps if "/libc.so" in line)
        notes = subprocess.run(["readelf", "-n", libc], capture_output=True, text=True, check=True).stdout
        here = finding(1, host=os.uname().nodename)
        frames = here["accesses"][0]["stack"]
        frames[1].update(module=libc, build_id=notes.split("Build ID:")[1].split()[0])
        frames[2].update(module=libc + ".other", build_id="cd34", function=None)
        here["accesses"][1]["stack"][0].update(module=os.path.realpath("/bin/true"), build_id="ee", function=None)
        packages = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", "libc6"],
                                  capture_output=True, text=True, check=False).stdout.split("\n")
        for redact in ((), ("--redact",)):
            text = report(self.file([here]), "--format", "markdown", *redact).stdout
            lines = {line.split("`")[1]: line.split("|")[3].strip() for line in text.splitlines() if line.startswith("| `")}
            shown = {os.path.basename(path): version for path, version in lines.items()}
            if packages[0]:
                self.assertEqual(shown[os.path.basename(libc)], packages[0])
            self.assertEqual((shown["true"], shown["server"]), ("not known",) * 2, "another build is here")
            self.assertIn(f"Linux {os.uname().release} {os.uname().machine}; Trapline ", text)
            self.assertEqual(text.splitlines()[0], "# data-race: `write_1` (`set.c`:21) and `true+0x1`")
        self.assertNotIn(os.uname().release, report(self.file([finding(1)]), "--format", "markdown").stdout)

    def test_markup_of_the_programs_is_none(self):
        hostile = finding(1)
        hostile["accesses"][0]["stack"][0]["function"] = "`</code>\n# heading [x](y) \u009b"
        hostile["object"]["name"] = "```\n\n# heading"
        text = report(self.file([hostile]), "--format", "markdown", "--redact").stdout
        self.assertEqual([line for line in text.splitlines() if line.startswith(("# h", "```"))], [])
        self.assertNotIn("\u009b", text)
        title = text.splitlines()[0]
        self.assertEqual(title.count("`") % 2, 0)

    def test_no_form_drives_a_terminal(self):
        """Who reads a file of findings on a terminal sees names, whatever the program put into them."""
        hostile = finding(1)
        hostile["accesses"][0]["stack"][0]["function"] = "f\u009b31m\u0085"
        hostile["object"]["name"] = "o\u009b2J"
        hostile["accesses"][0]["thread"] = "\u009d0;title"
        source = self.file([hostile])
        for form in ("text", "jsonl", "sarif", "html", "markdown"):
            text = report(source, "--format", form, "--title", "t").stdout
            self.assertEqual([one for one in text if "\x80" <= one <= "\x9f" or one == "\033"], [], form)
        [one] = parse(report(source, "--format", "jsonl"))
        self.assertEqual(one["object"]["name"], "o\u009b2J")

    def test_surest_first(self):
        result = report(self.file([finding(2), finding(1), finding(0)]), "--format", "jsonl")
        self.assertEqual([one["class"] for one in parse(result)], ["definite", "likely", "possible"])

    def test_merging(self):
        first = self.file([finding(1, count=2), finding(1, count=3)], "a.jsonl")
        again = self.file([finding(1, count=2)], "b.jsonl")
        other = self.file([finding(1, run="run-2", host="web-2", count=10,
                                   time="2026-12-01T00:00:00Z")], "c.jsonl")
        [one] = parse(report(first, again, other, "--format", "jsonl"))
        self.assertEqual((one["count"], one["runs"], one["hosts"], one["builds"]), (15, 2, 2, 1))
        self.assertEqual(one["last"][:10], "2026-12-01")

    def test_swapped_accesses_are_the_same(self):
        swapped = finding(1)
        swapped["accesses"].reverse()
        self.assertEqual(len(parse(report(self.file([finding(1), swapped]), "--format", "jsonl"))), 1)

    def test_output_is_private_and_complete(self):
        source, target = self.file([finding(1)]), self.path("out.html")
        with open(target, "w", encoding="utf-8") as file:
            file.write("old")
        os.chmod(target, 0o644)
        self.assertEqual(report(source, "-o", target).returncode, 0)
        self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o600)
        with open(target, encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("<!DOCTYPE html>"))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["findings.jsonl", "out.html"])

    def test_output_may_be_the_input(self):
        source = self.file([finding(1), finding(1)])
        self.assertEqual(report(source, "-o", source).returncode, 0)
        [one] = parse(report(source, "--format", "jsonl"))
        self.assertEqual(one["count"], 2)

    def test_unwritable_output(self):
        result = report(self.file([finding(1)]), "-o", self.path("no/such/folder"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write", result.stderr)
        result = report(self.file([finding(1)]), "-o", "/dev/full")
        self.assertEqual(result.returncode, 1)

    def test_output_by_another_name(self):
        """A link stays one, and a name of what the shell has open leads there: neither is replaced."""
        source, target, link = self.file([finding(1)]), self.path("target"), self.path("link")
        for there in (True, False):
            if there:
                with open(target, "w", encoding="ascii"):
                    pass
            os.symlink(target, link)
            self.assertEqual(report(source, "--format", "jsonl", "-o", link).returncode, 0)
            self.assertTrue(os.path.islink(link))
            with open(target, encoding="utf-8") as stream:
                self.assertEqual(len(stream.readlines()), 1)
            os.unlink(link)
            os.unlink(target)
        with open(target, "w+", encoding="utf-8") as stream:
            stream.write("before\n")
            stream.flush()
            for name in ("/dev/fd/1", target):
                self.assertEqual(report(source, "--format", "jsonl", "-o", name, capture_output=False, stdout=stream).returncode, 0)
            stream.seek(0)
            self.assertEqual([line[0] for line in stream], ["b", "{", "{"])

    def test_standard_input(self):
        with open(self.file([finding(1)]), encoding="utf-8") as stream:
            result = report("-", "--format", "summary", stdin=stream)
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (0, 1))

    def test_pipe(self):
        """By its path, as <(…) of a shell gives it: nothing of it is read twice."""
        reading, writing = os.pipe()
        # A pipe holds as little as a page where its user has used up fs.pipe-user-pages-soft.
        with subprocess.Popen(["cat", self.file([finding(1), finding(2)])], stdout=writing):
            os.close(writing)
            result = report(f"/proc/self/fd/{reading}", "--format", "jsonl", pass_fds=(reading,))
        os.close(reading)
        self.assertEqual((result.returncode, result.stderr, len(parse(result))), (0, "", 2))

    def test_suppressions(self):
        source, rules = self.file([finding(1), finding(2)]), self.path("rules")
        with open(rules, "w", encoding="utf-8") as file:
            file.write("data-race top:write_1\ndata-race function:nothing\n")
        result = report(source, "--suppressions", rules, "--format", "jsonl")
        self.assertEqual([one["object"]["name"] for one in parse(result)], ["variable_2"])
        self.assertIn("1 findings suppressed", result.stderr)
        self.assertIn("rules:2: this rule hid nothing", result.stderr)

    def test_generated_suppressions_hide_everything(self):
        source, rules = self.file([finding(number) for number in range(20)]), self.path("rules")
        self.assertEqual(report(source, "--gen-suppressions", "-o", rules).returncode, 0)
        result = report(source, "--suppressions", rules)
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_bad_suppressions(self):
        rules = self.path("rules")
        with open(rules, "w", encoding="utf-8") as file:
            file.write("data-race\n")
        result = report(self.file([finding(1)]), "--suppressions", rules)
        self.assertEqual(result.returncode, 1)
        self.assertIn("rules:1:", result.stderr)

    def test_baseline(self):
        known = self.file([finding(1)], "known.jsonl")
        now = self.file([finding(1, run="later"), finding(2, run="later")], "now.jsonl")
        result = report(now, "--baseline", known, "--format", "jsonl")
        self.assertEqual(result.returncode, 3)
        self.assertEqual([one["object"]["name"] for one in parse(result)], ["variable_2"])
        self.assertEqual(report(now, "--baseline", now).returncode, 0)
        self.assertEqual(report(now, "--baseline", known, "--error-exitcode", 7).returncode, 7)
        self.assertEqual(report(now, "--baseline", self.path("missing")).returncode, 1)

    def test_what_trapline_writes_is_read(self):
        """Of what lies before a block the offset is below zero; ranks of shared lines are large."""
        before, shared = finding(1), finding(2, rank=4294967000)
        before["object"]["offset"] = -8
        result = report(self.file([before, shared]), "--format", "jsonl")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([one["object"]["offset"] for one in parse(result)], [-8, 0])

    def test_every_field_is_documented(self):
        with open(os.path.join(ROOT, "src/jsonl/json_encode.c"), encoding="utf-8") as source:
            names = set(re.findall(r'\bset(?:_\w+)?\(&?encoder,\s+\w+,\s+"(\w+)"', source.read()))
        with open(os.path.join(ROOT, "docs/report.md"), encoding="utf-8") as page:
            text = page.read()
        self.assertGreater(len(names), 40)
        self.assertEqual([name for name in names if f"`{name}`" not in text and f'"{name}"' not in text], [])

    def test_redaction_of_a_store(self):
        store, source = self.path("fleet.db"), self.file([finding(1, details=["was", "at"], was="0x7f0000000008", at="/home/me/x.c")])
        self.assertEqual(report(source, "--store", store).returncode, 0)
        for files in (("--store", store), (source,)):
            result = report(*files, "--redact", "--query", "function=write_1", "--query", "host=web-1", "--format", "jsonl")
            self.assertEqual(len(parse(result)), 1)
            for secret in ("/usr/bin", "/src/", "web-1", '"before"', "0x7f0000000008", "/home/me"):
                self.assertNotIn(secret, result.stdout)

    def test_redaction(self):
        result = report(self.file([finding(1)]), "--redact", "--format", "jsonl")
        for secret in ("/usr/bin", "/src/", "web-1", '"before"', "0x7f0000000008", ROOT):
            self.assertNotIn(secret, result.stdout)
        self.assertEqual(parse(result)[0]["id"],
                         parse(report(self.file([finding(1)]), "--format", "jsonl"))[0]["id"])

    def test_queries(self):
        source = self.file([finding(number) for number in range(10)])
        result = report(source, "--query", "function=write_3", "--format", "jsonl")
        self.assertEqual([one["object"]["name"] for one in parse(result)], ["variable_3"])
        self.assertEqual(report(source, "--query", "color=red").returncode, 2)
        self.assertEqual(report(source, "--query", "new-since-build=b001").returncode, 2)

    def test_a_truncated_file(self):
        source = self.file([finding(1), finding(2)])
        os.truncate(source, os.path.getsize(source) - 20)
        result = report(source, "--format", "summary")
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (0, 1))
        self.assertIn("cut short", result.stderr)

    def test_every_truncation(self):
        source = self.file([finding(1)])
        with open(source, "rb") as file:
            data = file.read()
        for length in range(0, len(data), 97):
            result = subprocess.run([os.path.abspath(report.__globals__["TRAPLINE"]), "report", "-"],
                                    input=data[:length], capture_output=True, timeout=30, check=False)
            self.assertIn(result.returncode, (0, 1), length)

    def test_bad_lines_are_said_and_passed(self):
        source = self.file([finding(1)])
        with open(source, "a", encoding="utf-8") as file:
            file.write('nonsense\n{"v":9,"kind":"x"}\n' + json.dumps(finding(2)) + "\n")
        result = report(source, "--format", "summary")
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (1, 2))
        self.assertIn("findings.jsonl:2: not JSON", result.stderr)
        self.assertIn("findings.jsonl:3: format version 9", result.stderr)

    def test_not_findings_at_all(self):
        for path in ("/bin/ls", self.folder.name, "/dev/null"):
            self.assertIn(report(path).returncode, (0, 1))
        self.assertEqual(report(self.path("missing")).returncode, 1)

    def test_a_huge_line(self):
        source = self.path("huge.jsonl")
        with open(source, "w", encoding="utf-8") as file:
            file.write('{"v":1,"kind":"' + "x" * (17 << 20) + '"}\n')
            file.write("[" * 100000 + "\n" + json.dumps(finding(1)) + "\n")
        result = report(source, "--format", "summary")
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (1, 1))
        self.assertIn("longer than 16 MiB", result.stderr)

    def test_a_raw_recording_is_named(self):
        """Addresses of a small program, recorded as module and offset; then stripped of its paths."""
        source, program = self.path("program.c"), self.path("program")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int counter;\n\nstatic inline int bump(void)\n{\n\treturn ++counter;\n}\n\n"
                       "int main(void)\n{\n\treturn bump();\n}\n")
        subprocess.run(["gcc", "-g", "-O0", "-Wl,--build-id", "-o", program, source], check=True)
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        offset = next(int(line.split()[0], 16) for line in symbols.splitlines()
                      if line.endswith(" t bump"))
        notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True,
                               check=True).stdout
        build_id = notes.split("Build ID: ")[1].split()[0]
        raw = [{"v": 1, "kind": "modules", "run": "r", "pid": 5, "modules": [
                   {"path": program, "build_id": build_id, "start": "0x555555550000",
                    "end": "0x555555560000", "bias": "0x555555550000"}]},
               {"v": 1, "kind": "data-race", "run": "r", "pid": 5, "accesses": [
                   {"op": "write", "stack": [hex(0x555555550000 + offset + 4)]}]}]
        [one] = parse(report(self.file(raw), "--format", "jsonl"))
        frame = one["accesses"][0]["stack"][0]
        self.assertEqual((frame["function"], frame["build_id"]), ("bump", build_id))
        self.assertEqual(os.path.basename(frame["file"]), "program.c")
        # The same elsewhere: the program is found by build-id among the debug files.
        folder = self.path(f"debug/.build-id/{build_id[:2]}")
        os.makedirs(folder)
        os.rename(program, f"{folder}/{build_id[2:]}.debug")
        [one] = parse(report(self.file(raw), "--format", "jsonl", "--symbols", self.path("debug")))
        self.assertEqual(one["accesses"][0]["stack"][0]["function"], "bump")
        # And nowhere: module and offset stay.
        [one] = parse(report(self.file(raw), "--format", "jsonl"))
        self.assertEqual(one["accesses"][0]["stack"][0]["offset"], hex(offset + 4))

    def raw_race(self, name, before, inline):
        """A raw race in bump() of a program built with `before` above it; its id when named."""
        source, program = self.path("moved.c"), self.path(name)
        with open(source, "w", encoding="utf-8") as file:
            file.write(f"int counter;\n{before}\n{inline} int bump(int by)\n{{\n\tcounter += by;\n"
                       "\treturn counter;\n}\n\nint main(int argc, char **argv)\n{\n"
                       "\t(void)argv;\n\treturn bump(argc);\n}\n")
        subprocess.run(["gcc", "-g", "-O1", "-o", program, source], check=True)
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], capture_output=True,
                              text=True, check=True).stdout
        pc = next(int(line.split(":")[0], 16) for line in code.splitlines()
                  if "<counter>" in line and line.split()[1] in ("add", "mov"))
        stack = [{"pc": hex(pc), "module": program, "offset": hex(pc)}]
        [one] = parse(report(self.file([{"v": 1, "kind": "data-race", "accesses": [
            {"op": "write", "stack": stack}, {"op": "read", "stack": stack}]}]), "--format", "jsonl"))
        self.assertEqual(one["accesses"][0]["stack"][0]["function"], "bump")
        return one["id"]

    def test_ids_survive_rebuilds_of_other_code(self):
        more = "\nint other(int a)\n{\n\tfor (int i = 0; i < a; i++)\n\t\tcounter -= i;\n\treturn a;\n}\n"
        for inline in ("__attribute__((noinline))", "static inline __attribute__((always_inline))"):
            first = self.raw_race("program", "", inline)
            moved = self.raw_race("program", "\n" * 40 + more.replace("counter", "other_counter").replace(
                "\nint other", "int other_counter;\nint other"), inline)
            self.assertEqual(first, moved, inline)


if __name__ == "__main__":
    unittest.main()
