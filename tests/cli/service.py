#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trapline service`: the drop-in that it writes, by units as packages have them.

usage: tests/cli/service.py build/trapline"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TRAPLINE = os.path.abspath(sys.argv.pop(1))

PLAIN = """[Unit]
Description=A server
ExecStart=/not/in/this/section
[Service]
Type=notify
# ExecStart=/a/comment
ExecStart=-/usr/sbin/served --quiet \\
  # a comment between
  --port=80 'with blanks'
User=served
"""


class Service(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_it(self, action, *arguments):
        return subprocess.run([TRAPLINE, "service", action, "--root", self.root, *arguments], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, check=False)

    def drop_in(self, name="served"):
        with open(f"{self.root}/etc/systemd/system/{name}.service.d/trapline.conf", encoding="utf-8") as file:
            return file.read()

    def enable(self, *arguments):
        result = self.run_it("enable", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        name = arguments[0].removesuffix(".service")
        self.verify(name)
        return self.drop_in(name)

    def verify(self, name):
        """systemd itself reads the unit with the drop-in, and finds nothing to say about that."""
        folders = [os.path.join(self.root, folder, "systemd/system") for folder in ("etc", "run", "lib")]
        result = subprocess.run(["systemd-analyze", "verify", "--man=no", name + ".service"], capture_output=True, text=True, check=False,
                                env={**os.environ, "SYSTEMD_UNIT_PATH": ":".join([*folders, ""])}, stdin=subprocess.DEVNULL)
        said = [line for line in result.stderr.splitlines() if "/trapline.conf:" in line or line.startswith(name)]
        self.assertEqual((result.returncode, said), (0, []))

    def test_the_command_of_the_unit_is_started_under_us(self):
        self.write("lib/systemd/system/served.service", PLAIN)
        text = self.enable("served.service")
        self.assertIn(f"ExecStart=\nExecStart=-{TRAPLINE} race --beside -q -o /var/lib/trapline/%N/findings.jsonl -- "
                      "/usr/sbin/served --quiet", text)
        self.assertIn("--port=80 'with blanks'\n", text)
        self.assertIn("StateDirectory=trapline/%N\n", text)
        self.assertIn("SyslogIdentifier=served\n", text)
        for name in ("SystemCallFilter", "ExecPaths", "ReadWritePaths"):
            self.assertNotIn(name, text, "restrictions that the unit does not have are not brought in")

    def test_drop_ins_have_the_last_word(self):
        self.write("lib/systemd/system/served.service", PLAIN)
        self.write("lib/systemd/system/served.service.d/20-late.conf", "[Service]\nExecStart=\nExecStart=/late\n")
        self.write("etc/systemd/system/served.service.d/10-early.conf", "[Service]\nExecStart=/early\n"
                   "SystemCallFilter=@system-service\n")
        self.write("run/systemd/system/served.service.d/30-hidden.conf", "[Service]\nExecStart=/hidden\n")
        self.write("etc/systemd/system/served.service.d/30-hidden.conf", "[Service]\n")
        text = self.enable("served")
        self.assertEqual(text.count("ExecStart="), 2)
        self.assertIn("-- /late\n", text)
        self.assertIn("SystemCallFilter=perf_event_open process_vm_readv pidfd_getfd\n", text)
        self.assertEqual(self.enable("served"), text, "what we wrote before does not count")

    def test_options_are_quoted(self):
        self.write("etc/systemd/system/served@.service", PLAIN)
        text = self.enable("served@one", "heap", "--tool-option", "x=5%", "-o", 'a "b" $HOME')
        self.assertIn('heap --beside -q "--tool-option" "x=5%%" "-o" "a \\"b\\" $$HOME" -- /usr', text)
        self.assertNotIn("StateDirectory", text)

    def test_systemd_would_tell_of_a_mistake(self):
        self.write("lib/systemd/system/served.service", PLAIN + "NoExecPaths=/\n")
        self.enable("served")
        self.write("etc/systemd/system/served.service.d/trapline.conf", self.drop_in() + "SystemCallFilters=x\n")
        with self.assertRaisesRegex(AssertionError, "SystemCallFilters"):
            self.verify("served")

    def test_what_a_unit_restricts_is_kept_to(self):
        self.write("lib/systemd/system/served.service", PLAIN + "NoExecPaths=/\nSyslogIdentifier=other\n")
        text = self.enable("served")
        self.assertIn(f"ExecPaths={TRAPLINE} /", text)
        self.assertNotIn("..", text)
        self.assertNotIn("SyslogIdentifier", text)
        self.write("etc/systemd/system/served.service.d/50-local.conf", "[Service]\nNoExecPaths=\n")
        self.assertNotIn("ExecPaths", self.enable("served"))

    def test_what_would_not_start_is_refused(self):
        self.write("lib/systemd/system/served.service", PLAIN)
        self.write("lib/systemd/system/rooted.service", PLAIN + "RootDirectory=/srv/root\n")
        for status, arguments in ((2, ("served", "watch", "x")), (2, ("served", "race", "--no-such-option")),
                                  (2, ("served", "race", "--budget", "none")), (2, ("served", "heap", "-o")),
                                  (1, ("rooted",))):
            result = self.run_it("enable", *arguments)
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (status, 1), result)
        self.assertFalse(os.path.exists(f"{self.root}/etc/systemd/system/served.service.d"))

    def test_disable_and_show(self):
        self.write("lib/systemd/system/served.service", PLAIN)
        text = self.enable("served")
        self.assertIn(text, self.run_it("show", "served").stdout)
        self.assertEqual(self.run_it("disable", "served").returncode, 0)
        self.assertFalse(os.path.exists(f"{self.root}/etc/systemd/system/served.service.d"), "nothing is left")
        for action in ("disable", "show"):
            result = self.run_it(action, "served")
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (1, 1))

    def test_drop_ins_of_others_stay(self):
        self.write("lib/systemd/system/served.service", PLAIN)
        other = "etc/systemd/system/served.service.d/nice.conf"
        self.write(other, "[Service]\nNice=5\n")
        self.enable("served")
        self.assertEqual(self.run_it("disable", "served").returncode, 0)
        self.assertEqual(os.listdir(os.path.dirname(f"{self.root}/{other}")), ["nice.conf"])

    def test_another_file_of_that_name_is_left_alone(self):
        self.write("etc/systemd/system/served.service.d/trapline.conf", "[Service]\nNice=5\n")
        self.write("lib/systemd/system/served.service", PLAIN)
        for action in ("enable", "disable"):
            self.assertEqual(self.run_it(action, "served").returncode, 1)
        self.assertIn("Nice=5", self.drop_in())

    def test_what_is_wrong_is_said(self):
        self.write("lib/systemd/system/renamed.service", "[Service]\nExecStart=@/bin/sh other\n")
        self.write("lib/systemd/system/target.service", "[Service]\nType=oneshot\n")
        for status, arguments in ((1, ("enable", "absent")), (2, ("enable", "../up")), (2, ("enable",)),
                                  (2, ("start", "served")), (1, ("enable", "renamed")), (1, ("enable", "target")),
                                  (2, ("disable", "served", "race"))):
            result = self.run_it(*arguments)
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (status, 1), result)


if __name__ == "__main__":
    unittest.main(verbosity=2)
