#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/configure makes a build directory usable, whatever became of the one that lies there.

A project of three lines stands for ours: what is tried is Meson's own state.
usage: tests/configure_check.py scripts/configure"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CONFIGURE = os.path.abspath(sys.argv.pop(1))
PROJECT = """project('small')
made = custom_target('made', output: 'made', command: ['cp', files('taken'), '@OUTPUT@'], build_by_default: true)
alias_target('product', made)
test('one', find_program('true'))
"""
OPTIONS = "option('tests', type: 'boolean', value: true)\noption('colour', type: 'string', value: 'red')\n"


class Configure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="configure-")
        self.addCleanup(self.folder.cleanup)
        self.tree = os.path.join(self.folder.name, "tree")
        os.makedirs(os.path.join(self.tree, "scripts"))
        shutil.copy(CONFIGURE, os.path.join(self.tree, "scripts"))
        for name, text in (("meson.build", PROJECT), ("meson_options.txt", OPTIONS), ("taken", "taken\n")):
            self.write(name, text)

    def write(self, name, text):
        with open(os.path.join(self.tree, name), "w", encoding="utf-8") as file:
            file.write(text)

    def configure(self, wanted, *options):
        result = subprocess.run(["scripts/configure", "build", wanted, *options], cwd=self.tree, capture_output=True,
                                text=True, check=False, timeout=300)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def options(self):
        text = subprocess.run(["meson", "introspect", "--buildoptions", "build"], cwd=self.tree, capture_output=True,
                              text=True, check=True).stdout
        known = {option["name"]: option["value"] for option in json.loads(text)}
        return known["tests"], known["colour"]

    def built(self):
        result = subprocess.run(["ninja", "-C", "build"], cwd=self.tree, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)

    def set_up_with_colour(self):
        """The product, with an option of its own, and something beside it that is not Meson's."""
        self.configure("product", "-Dcolour=dark blue")
        self.built()
        self.write("build/kept", "kept\n")

    def check(self, tests, colour="dark blue", wanted="product"):
        said = self.configure(wanted)
        self.built()
        self.assertEqual(self.options(), (tests, colour))
        self.assertTrue(os.path.exists(os.path.join(self.tree, "build", "kept")))
        return said

    def test_in_any_order(self):
        self.set_up_with_colour()
        self.assertEqual(self.check(False), "")
        self.check(True, wanted="tests")
        self.assertEqual(self.check(True), "")

    def test_broken_files(self):
        self.set_up_with_colour()
        for broken, wanted in (("build.ninja", "product"), ("meson-private/coredata.dat", "product"),
                               ("meson-info/meson-info.json", "tests")):
            with self.subTest(broken=broken, wanted=wanted):
                os.truncate(os.path.join(self.tree, "build", broken), 0)
                self.check(wanted == "tests", wanted=wanted)

    def test_options_that_cannot_be_read(self):
        self.set_up_with_colour()
        self.write("build/build.ninja", "")
        self.write("build/meson-private/cmd_line.txt", "no section\n")
        self.check(False, colour="red")

    def test_set_up_by_halves(self):
        self.set_up_with_colour()
        for name in glob.glob(os.path.join(self.tree, "build", "meson-private", "*.dat")):
            os.unlink(name)
        os.unlink(os.path.join(self.tree, "build", "build.ninja"))
        self.check(False)

    def test_moved_with_its_tree(self):
        self.set_up_with_colour()
        first, self.tree = self.tree, os.path.join(self.folder.name, "copy")
        shutil.copytree(first, self.tree, symlinks=True)
        self.assertIn("anew", self.check(False))
        shutil.rmtree(first)
        self.assertEqual(self.check(False), "")

    def test_what_it_takes_from_elsewhere_is_gone(self):
        """As a compiler or a header is, when its package was replaced."""
        self.write("meson.build", PROJECT.replace("files('taken')", "'" + self.tree + "/../elsewhere'")
                   .replace("build_by_default", "depend_files: '" + self.tree + "/../elsewhere', build_by_default"))
        self.write("../elsewhere", "taken\n")
        self.set_up_with_colour()
        os.unlink(os.path.join(self.tree, "..", "elsewhere"))
        self.write("meson.build", PROJECT)
        self.check(False)


if __name__ == "__main__":
    unittest.main()
