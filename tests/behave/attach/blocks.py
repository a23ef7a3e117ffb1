# SPDX-License-Identifier: Apache-2.0
"""Errors of the heap in programs that run already, and in static ones: what is found, that the program goes
on, and that nothing is told of correct ones.

usage: blocks.py TRAPLINE BLOCKS BLOCKS_STATIC BLOCKS_OWN LATER [TEST…]
BLOCKS_OWN has a malloc() of its own; LATER needs a library with one, behind the C library."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import shares  # pylint: disable=wrong-import-position

TRAPLINE, BLOCKS, STATIC, OWN, LATER = sys.argv[1:6]
TRIES = 6  # which block is chosen is up to chance
SECONDS = 4

OVERFLOW, FREED = "heap-buffer-overflow", "heap-use-after-free"
WRONG = {"behind": (OVERFLOW, "behind"), "next": (OVERFLOW, "next"), "front": (OVERFLOW, "front"),
         "grown": (OVERFLOW, "grown"), "zeroed": (OVERFLOW, "zeroed"), "late": (FREED, "late"),
         "large": (FREED, "large"), "copied": (OVERFLOW, "copied")}
RIGHT = ("right_recycled", "right_grown", "right_usable", "right_threads", "right_sizes", "right_strings")


def machine_works():
    return subprocess.run([TRAPLINE, "doctor", "--json"], capture_output=True, check=False).returncode == 0


ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2")


def place(finding):
    """The function of the program's own that made the access, or called the C library for it."""
    return next(frame["function"] for frame in finding["accesses"][0]["stack"] if "libc" not in frame["module"])


def is_loadable(library):
    done = subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": library}, capture_output=True, check=False)
    return not done.stderr


def run(what, program, launch, preload=None):
    """The findings, and what the program said at its end, with its status."""
    environment = {**os.environ, "LD_PRELOAD": preload} if preload else None
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.jsonl")
        line = [TRAPLINE, "heap", "--aggressive", "-o", output, "--duration", str(SECONDS)]
        if launch:
            done = subprocess.run([*line, "--", program, what, str(SECONDS + 1)], capture_output=True, text=True,
                                  timeout=120, check=False)
            words, status = done.stdout, done.returncode
        else:
            with subprocess.Popen([program, what, str(SECONDS + 1)], stdout=subprocess.PIPE, text=True,
                                  env=environment) as subject:
                words = subject.stdout.readline()
                done = subprocess.run([*line, "-p", str(subject.pid)], capture_output=True, text=True, timeout=120,
                                      check=False)
                assert done.returncode == 0, done.stderr
                words += subject.stdout.read()
                status = subject.wait()
        with open(output, encoding="utf-8") as file:
            return [json.loads(text) for text in file], (words, status), done.stderr


class Blocks(unittest.TestCase):
    def check_wrong(self, what, program=BLOCKS, launch=False):
        for _ in range(TRIES):
            findings, words, errors = run(what, program, launch)
            self.assertEqual(words, ("ready\nok\n", 0), errors)
            places = {(finding["kind"], place(finding)) for finding in findings}
            self.assertLessEqual(places, {WRONG[what]})
            if places:
                return findings[0], errors
        self.fail(f"{what} was not found")

    def check_right(self, what, program=BLOCKS, launch=False):
        findings, words, errors = run(what, program, launch)
        self.assertEqual((findings, words), ([], ("ready\nok\n", 0)), errors)

    def test_wrong(self):
        for what in WRONG:
            with self.subTest(what):
                self.check_wrong(what)

    def test_right(self):
        for what in RIGHT:
            with self.subTest(what):
                self.check_right(what)

    def test_filled_blocks(self):
        """free() writes all of a block before it puts it anywhere."""
        os.environ["MALLOC_PERTURB_"] = "61"
        try:
            self.check_wrong("large")
            self.check_right("right_sizes")
        finally:
            del os.environ["MALLOC_PERTURB_"]

    def test_what_is_told(self):
        """A block that was chosen as it was made has both stacks, one that was freed the one of that."""
        found, _ = self.check_wrong("behind")
        functions = [frame["function"] for frame in found["object"]["stack"]]
        self.assertEqual(functions[:2], ["make", "behind"])
        self.assertEqual((found["object"]["size"], found["side"], found["strategy"]), (13, "after", "watch"))
        found, _ = self.check_wrong("late")
        functions = [frame["function"] for frame in found["object"]["freed"]["stack"]]
        self.assertEqual(functions[:2], ["drop", "late"])

    def test_what_lies_before_a_block(self):
        _, told = self.check_wrong("front")
        self.assertRegex(told, r"object: heap block - [1-8], 40 bytes")

    def test_another_malloc(self):
        """Of an allocator that is not glibc's nothing is known, which is said, and nothing else."""
        for library in filter(is_loadable, ALLOCATORS):
            with self.subTest(library):
                findings, words, errors = run("right_sizes", BLOCKS, False, library)
                self.assertEqual((findings, words), ([], ("ready\nok\n", 0)), errors)
                self.assertRegex(errors, rf"allocates by malloc\(\) of \S*/{library}\S*, not glibc's")
                self.assertEqual(errors.count("nothing is seen of its heap"), 1, errors)
        findings, words, errors = run("right_sizes", OWN, False)
        self.assertEqual((findings, words), ([], ("ready\nok\n", 0)), errors)
        self.assertRegex(errors, r"malloc\(\) of its own, linked into \S*/attach_blocks_own")

    def test_a_library_with_a_malloc_that_nobody_calls(self):
        """Loaded behind the C library: its malloc() is bound to nothing, and glibc's heap is seen."""
        _, errors = self.check_wrong("behind", LATER)
        self.assertNotIn("nothing is seen", errors)

    def test_static(self):
        for launch in False, True:
            for what in "behind", "late":
                with self.subTest(what, launch=launch):
                    self.check_wrong(what, STATIC, launch)
            for what in "right_grown", "right_threads", "right_strings":
                with self.subTest(what, launch=launch):
                    self.check_right(what, STATIC, launch)


shares.main(5, machine_works)
