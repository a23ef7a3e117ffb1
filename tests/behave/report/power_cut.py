#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The SQLite store after a power cut at every moment of a merge.

What the merge does to its files is recorded, operation by operation. For every prefix of the record
the states are built that a disk may be left in: what was synchronised is there; of the rest nothing,
everything, or any part, writes torn between sectors and entries of the folder up to any of the later
ones. In each, the store must open and hold the run whole or not at all; whole, once the merge had said
that it was done. The same record without its synchronisations must fail, else this test sees nothing.

usage: tests/behave/report/power_cut.py build/trapline …/librecord_writes.so"""
import os
import random
import shutil
import struct
import sys
import tempfile
import unittest

LIBRARY = os.path.abspath(sys.argv.pop(2))

from sample import finding, parse, report, write  # pylint: disable=wrong-import-position

CREATE, WRITE, TRUNCATE, SYNC, UNLINK = range(1, 6)
SECTOR = 512
BEFORE, RUN = 30, 60  # findings in the store and in the run that is merged; they share 20
SHARED = 20


def read_log(path):
    """[(operation, file name or "" for the folder, offset, data)]"""
    with open(path, "rb") as file:
        data = file.read()
    folder, at, log = os.path.dirname(path).encode() + b"/disk", 0, []
    while at < len(data):
        operation, path_length, size, offset = struct.unpack_from("<4I", data, at)
        at += 24
        name = data[at:at + path_length][len(folder):].lstrip(b"/").decode()
        at += path_length
        log.append((operation, name, offset, data[at:at + size]))
        at += size
    return log


def apply(content, operation, offset, data):
    """One write or truncation to the content of a file."""
    if operation == TRUNCATE:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
    else:
        content.extend(bytes(max(0, offset - len(content))))
        content[offset:offset + len(data)] = data


class Disk:
    """A folder of files: durable content and entries, and what came later."""

    def __init__(self, files):
        self.nodes = {number: bytearray(content) for number, content in enumerate(files.values())}
        self.later = {number: [] for number in self.nodes}   # writes not synchronised
        self.entries = {name: number for number, name in enumerate(files)}
        self.now = dict(self.entries)                        # as the program sees it
        self.renaming = []                                   # changes of entries, in order

    def play(self, operation, name, offset, data, synchronise=True):
        if operation == CREATE:
            number = len(self.nodes)
            self.nodes[number], self.later[number] = bytearray(), []
            self.now[name] = number
            self.renaming.append((name, number))
        elif operation == UNLINK:
            del self.now[name]
            self.renaming.append((name, None))
        elif operation != SYNC:
            self.later[self.now[name]].append((operation, offset, data))
        elif synchronise and not name:
            self.commit_entries(len(self.renaming), self.entries)
            self.renaming = []
        elif synchronise:
            number = self.now[name]
            for change in self.later[number]:
                apply(self.nodes[number], *change)
            self.later[number] = []

    def commit_entries(self, count, entries):
        for name, number in self.renaming[:count]:
            if number is None:
                entries.pop(name, None)
            else:
                entries[name] = number

    def left(self, keep_change, keep_sector, entry_count):
        """{name: content} after the power cut, as these choices have it."""
        entries = dict(self.entries)
        self.commit_entries(entry_count, entries)
        files = {}
        for name, number in entries.items():
            content = bytearray(self.nodes[number])
            for operation, offset, data in self.later[number]:
                if operation == TRUNCATE:
                    if keep_change():
                        apply(content, operation, offset, data)
                    continue
                for at in range(0, len(data), SECTOR):
                    if keep_sector():
                        apply(content, operation, offset + at, data[at:at + SECTOR])
            files[name] = bytes(content)
        return files

    def states(self, chance):
        """What the disk may be left in: nothing of the rest, all of it, and parts at random."""
        every = len(self.renaming)
        yield self.left(lambda: False, lambda: False, 0)
        yield self.left(lambda: False, lambda: False, every)
        yield self.left(lambda: True, lambda: True, every)
        yield self.left(lambda: True, lambda: True, 0)
        for _ in range(4):
            yield self.left(lambda: chance.random() < 0.5, lambda: chance.random() < 0.5,
                            chance.randint(0, every))


class PowerCut(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="trapline-power-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.disk = os.path.join(self.folder, "disk")
        os.mkdir(self.disk)
        self.store = os.path.join(self.disk, "store.db")
        self.run_file = write(os.path.join(self.folder, "run.jsonl"), [
            finding(BEFORE - SHARED + number, run="run-2") for number in range(RUN)])

    def snapshot(self):
        files = {}
        for name in os.listdir(self.disk):
            with open(os.path.join(self.disk, name), "rb") as file:
                files[name] = file.read()
        return files

    def record(self):
        """Merges the run and returns what that did, operation by operation."""
        log = os.path.join(self.folder, "log")
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "RECORD_FOLDER": self.disk, "RECORD_LOG": log}
        result = report("--store", self.store, self.run_file, env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return read_log(log)

    def held(self, files):
        """(findings, sum of counts) of the store in that state of the disk; None when it does not open."""
        place = os.path.join(self.folder, "after")
        shutil.rmtree(place, ignore_errors=True)
        os.mkdir(place)
        for name, content in files.items():
            with open(os.path.join(place, name), "wb") as file:
                file.write(content)
        store = os.path.join(place, "store.db")
        # No store yet, or one cut off before its tables were: the next merge makes it anew.
        if os.path.getsize(store) == 0 if os.path.exists(store) else True:
            return (0, 0)
        result = report("--store", store, "--format", "jsonl")
        if result.returncode or result.stderr:
            return self.after_merging_again(store)
        found = parse(result)
        return (len(found), sum(one["count"] for one in found))

    def after_merging_again(self, store):
        """An empty database holds no store, but must take one."""
        if report("--store", store, self.run_file).returncode:
            return None
        found = parse(report("--store", store, "--format", "jsonl"))
        return (0, 0) if len(found) == RUN else None

    def replay(self, before, log, synchronise=True):
        """{what the store held: in how many states} after a cut at each prefix, and at the end."""
        disk, chance, known, outcomes = Disk(before), random.Random(1), {}, {}
        for length in range(len(log) + 1):
            if length:
                disk.play(*log[length - 1], synchronise=synchronise)
            final = set()
            for files in disk.states(chance):
                key = hash(tuple(sorted(files.items())))
                if key not in known:
                    known[key] = self.held(files)
                outcomes[known[key]] = outcomes.get(known[key], 0) + 1
                final.add(known[key])
        print(f"{len(log)} operations, {len(known)} states, {outcomes}", flush=True)
        return set(outcomes), final

    def check(self, old, new):
        before = self.snapshot()
        log = self.record()
        self.assertIn(SYNC, [operation for operation, *_ in log])
        outcomes, final = self.replay(before, log)
        self.assertEqual(outcomes, {old, new})
        self.assertEqual(final, {new})
        return before, log

    def test_a_merge_into_a_store(self):
        kept = write(os.path.join(self.folder, "kept.jsonl"), [finding(number) for number in range(BEFORE)])
        self.assertEqual(report("--store", self.store, kept).returncode, 0)
        old, new = (BEFORE, BEFORE), (BEFORE + RUN - SHARED, BEFORE + RUN)
        before, log = self.check(old, new)
        outcomes, final = self.replay(before, log, synchronise=False)
        self.assertTrue(outcomes - {old, new} or final != {new})

    def test_the_first_merge(self):
        self.check((0, 0), (RUN, RUN))


if __name__ == "__main__":
    unittest.main()
