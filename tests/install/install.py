#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Install into an empty directory, then build and run programs against what is there alone.

usage: tests/install/install.py BUILD"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
SKIP = 77
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=120, check=False, **options)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="trapline-install-")
        cls.stage = cls.folder.name
        result = run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.stage)
        assert result.returncode == 0, result.stdout + result.stderr
        cls.prefix = cls.stage + cls.option("prefix")
        cls.libraries = os.path.join(cls.prefix, cls.option("libdir"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def option(cls, name):
        result = run("meson", "introspect", "--buildoptions", BUILD)
        return re.search(rf'"name": "{name}", "value": "([^"]*)"', result.stdout).group(1)

    def pkg_config(self, *arguments, package="trapline"):
        environment = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=self.stage,
                           PKG_CONFIG_LIBDIR=os.path.join(self.libraries, "pkgconfig"))
        result = run("pkg-config", *arguments, package, env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split()

    def build(self, compiler, source, *flags):
        program = os.path.join(self.stage, os.path.basename(source).replace(".", "-"))
        result = run(compiler, *STRICT, os.path.join(HERE, source), "-o", program, *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return program

    def expect_success(self, program, **environment):
        result = run(program, env=dict(os.environ, **environment))
        if result.returncode == SKIP:
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def dynamic(self, compiler, source):
        program = self.build(compiler, source, *self.pkg_config("--cflags", "--libs"))
        needed = run("readelf", "-d", program).stdout
        self.assertIn("[libtrapline.so.0]", needed)
        self.expect_success(program, LD_LIBRARY_PATH=self.libraries)

    def static(self, compiler, source):
        flags = self.pkg_config("--static", "--cflags", "--libs")
        archive = os.path.join(self.libraries, "libtrapline.a")
        flags = [archive if flag == "-ltrapline" else flag for flag in flags]
        program = self.build(compiler, source, *flags)
        self.assertNotIn("libtrapline.so", run("readelf", "-d", program).stdout)
        self.expect_success(program)

    def test_c_dynamic(self):
        self.dynamic("cc", "consumer.c")

    def test_the_program_of_the_readme(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            [text] = re.findall(r"^```c\n(.*?)^```$", file.read(), re.M | re.S)
        source = os.path.join(self.stage, "readme.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        program = self.build("cc", source, *self.pkg_config("--cflags", "--libs"))
        result = run(program, env=dict(os.environ, LD_LIBRARY_PATH=self.libraries))
        if result.returncode and run(os.path.join(self.prefix, "bin", "trapline"), "doctor").returncode:
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"^thread \d+ wrote it at 0x[0-9a-f]+\n$")

    def test_cxx_dynamic(self):
        self.dynamic("c++", "consumer.cc")

    def test_c_static(self):
        self.static("cc", "consumer.c")

    def test_cxx_static(self):
        self.static("c++", "consumer.cc")

    @unittest.skipIf(os.environ.get("TRAPLINE_EMULATED"), "it ends before an emulated machine has met its race")
    def test_a_program_finds_its_own_race(self):
        flags = self.pkg_config("--cflags", "--libs", package="trapline-race")
        for compiler, source in (("cc", "racer.c"), ("c++", "racer.c")):
            program = self.build(compiler, source, "-O1", "-pthread", *flags)
            needed = set(re.findall(r"NEEDED.*\[(lib\w+)", run("readelf", "-d", program).stdout))
            self.assertLessEqual(needed, {"libtrapline", "libc", "libstdc", "libm", "libgcc_s"})
            self.expect_success(program, LD_LIBRARY_PATH=self.libraries)

    def test_each_header_alone_in_each_language(self):
        folder = os.path.join(self.prefix, "include", "trapline")
        headers = sorted(os.listdir(folder))
        self.assertEqual(headers, sorted(os.listdir(os.path.join(ROOT, "include", "trapline"))))
        flags = self.pkg_config("--cflags")
        for header in headers:
            for compiler, language in (("cc", "c"), ("c++", "c++")):
                result = subprocess.run(
                    [compiler, *STRICT, "-fsyntax-only", "-x", language, *flags, "-"],
                    input=f"#include <trapline/{header}>\n", capture_output=True, text=True,
                    timeout=60, check=False)
                self.assertEqual(result.returncode, 0, f"{language} {header}: {result.stderr}")

    def test_version_is_one(self):
        installed = run(os.path.join(self.prefix, "bin", "trapline"), "--version").stdout
        self.assertEqual(installed, f"trapline {self.pkg_config('--modversion')[0]}\n")

    def test_the_installed_command_enters_a_program(self):
        command = os.path.join(self.prefix, "bin", "trapline")
        if run(command, "doctor").returncode != 0:
            self.skipTest("`trapline doctor` says that it cannot work here")
        result = run(command, "race", "-q", "--", "sh", "-c",
                     "while read line; do echo $line; done </proc/self/maps; exit 7")
        self.assertEqual(result.returncode, 7, result.stderr)
        # With what notes allocations, by default.
        self.assertIn(os.path.join(self.libraries, "libtrapline-agent-heap.so"), result.stdout,
                      result.stderr)

    def test_make_builds_all_that_is_installed(self):
        built = run("ninja", "-C", BUILD, "-t", "query", "product").stdout
        installed = json.loads(run("meson", "introspect", "--installed", BUILD).stdout)
        names = [os.path.relpath(file, BUILD) for file in installed if os.path.isabs(file)]
        names = [name for name in names if not name.startswith(("..", "meson-private/", "man/"))]
        self.assertIn("trapline", names)
        self.assertEqual([name for name in names if f" {name}\n" not in built], [])

    def test_manual_pages_and_their_links(self):
        pages = os.path.join(self.prefix, self.option("mandir"))
        for page in ("man1/trapline.1", "man3/tl_event.3", "man3/tl_event_open.3"):
            self.assertTrue(os.path.exists(os.path.join(pages, page)), page)

    def test_only_what_is_meant_to_be_there(self):
        names = {os.path.relpath(os.path.join(folder, name), self.prefix)
                 for folder, _, files in os.walk(self.prefix) for name in files}
        for name in sorted(names):
            self.assertRegex(name, r"^(bin/trapline|include/trapline/\w+\.h|lib/.*libtrapline"
                                   r"[\w.-]*|lib/.*/trapline(-race)?\.pc|share/man/man[1357]/.+"
                                   r"|share/(trapline|doc)/.+)$")


if __name__ == "__main__":
    unittest.main()
