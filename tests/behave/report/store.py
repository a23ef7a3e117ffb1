#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stores: merging, idempotence, queries, side by side, killed half way, crafted databases; the
same on a PostgreSQL server of its own (skipped where PostgreSQL is not installed).

usage: tests/behave/report/store.py build/trapline"""
import contextlib
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import cluster
from sample import TRAPLINE, finding, parse, report, write


class Stores:
    """What must hold for any store; self.store names a fresh one."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = lambda name: os.path.join(self.folder.name, name)
        self.make_store()

    def merge(self, findings, name="in.jsonl"):
        result = report("--store", self.store, write(self.path(name), findings))
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def select(self, *queries):
        arguments = [word for query in queries for word in ("--query", query)]
        result = report("--store", self.store, "--format", "jsonl", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return parse(result)

    def names(self, *queries):
        return sorted(one["object"]["name"] for one in self.select(*queries))

    def test_merging_is_idempotent(self):
        findings = [finding(1, count=5), finding(2, count=7)]
        for _ in range(3):
            self.merge(findings)
        self.merge([finding(1, run="run-2", host="web-2", build_id="b002", count=10)])
        one = self.select("object=variable_1")[0]
        self.assertEqual((one["count"], one["runs"], one["hosts"], one["builds"]), (15, 2, 2, 2))
        self.assertEqual(self.select("object=variable_2")[0]["count"], 7)

    def test_a_run_cut_short_and_merged_again(self):
        self.merge([finding(1, count=2)])
        self.merge([finding(1, count=2), finding(1, count=3)])
        self.merge([finding(1, count=1)])
        self.assertEqual(self.select()[0]["count"], 5)

    def test_the_surest_body_is_kept(self):
        self.merge([finding(1, **{"class": "possible"})])
        self.merge([finding(1, run="run-2", **{"class": "definite"})])
        self.merge([finding(1, run="run-3", **{"class": "likely"})])
        self.assertEqual(self.select()[0]["class"], "definite")

    def test_queries(self):
        day = "2026-11-{:02d}T00:00:00Z".format
        self.merge([finding(1, build_id="aa", time=day(1), run="1"),
                    finding(2, build_id="aa", time=day(1), run="1"),
                    finding(1, build_id="bb", time=day(10), run="2"),
                    finding(3, build_id="bb", time=day(10), run="2"),
                    finding(1, build_id="cc", time=day(20), run="3", program="/opt/other"),
                    finding(4, build_id="cc", time=day(20), run="3", host="db-1")])
        self.assertEqual(self.names("new-since=2026-11-10"), ["variable_3", "variable_4"])
        self.assertEqual(self.names("new-since-build=bb"), ["variable_4"])
        self.assertEqual(self.names("new-since-build=aa"), ["variable_3", "variable_4"])
        self.assertEqual(self.names("gone-since=2026-11-15"), ["variable_2", "variable_3"])
        self.assertEqual(self.names("gone-since-build=cc"), ["variable_2", "variable_3"])
        self.assertEqual(self.names("program=other"), ["variable_1"])
        self.assertEqual(self.names("host=db-*", "class=likely"), ["variable_4"])
        self.assertEqual(self.names("build=a"), ["variable_1", "variable_2"])
        self.assertEqual(len(self.names("file=set.c")), 4)
        self.assertEqual(self.names("file=other.c"), [])
        result = report("--store", self.store, "--query", "new-since-build=dd")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no run in the store is of build dd", result.stderr)

    def test_many_writers(self):
        """Eight at once, each with findings of its own and findings all share."""
        files = [write(self.path(f"{writer}.jsonl"),
                       [finding(number, run=f"run-{writer}", count=2) for number in range(40)] +
                       [finding(1000 + writer, run=f"run-{writer}")]) for writer in range(8)]
        with contextlib.ExitStack() as stack:
            writers = [stack.enter_context(subprocess.Popen(
                [TRAPLINE, "report", "--store", self.store, file], stderr=subprocess.PIPE))
                for file in files * 2]
            for writer in writers:
                self.assertEqual(writer.wait(timeout=120), 0, writer.stderr.read())
        found = self.select()
        self.assertEqual(len(found), 48)
        self.assertEqual({one["count"] for one in found if one["runs"] == 8}, {16})
        self.assertEqual(sum(one["runs"] == 8 for one in found), 40)

    def test_killed_while_merging(self):
        """Whatever the moment, a run is in the store whole or not at all, and merging it again
        completes it."""
        kept = write(self.path("kept.jsonl"), [finding(number) for number in range(50)])
        killed = write(self.path("killed.jsonl"),
                       [finding(number, run="run-2") for number in range(400)])
        self.assertEqual(report("--store", self.store, kept).returncode, 0)
        start = time.monotonic()
        self.assertEqual(report("--redact", "--store", self.spare, killed).returncode, 0)
        whole = time.monotonic() - start
        for _ in range(25):
            with subprocess.Popen([TRAPLINE, "report", "--store", self.store, killed],
                                  stderr=subprocess.DEVNULL) as writer:
                time.sleep(random.uniform(0, whole))
                writer.send_signal(signal.SIGKILL)
                writer.wait()
            self.assertIn(len(self.select()), (50, 400))
        self.assertEqual(report("--store", self.store, killed).returncode, 0)
        found = self.select()
        self.assertEqual((len(found), sum(one["count"] for one in found)), (400, 450))

    def test_hostile_text(self):
        odd = "x'; DROP TABLE trapline_findings; -- \u20ac \ud83d\ude00".encode(
            "utf-16", "surrogatepass").decode("utf-16")
        self.merge([finding(1, run=odd, host=odd, program=odd, build_id=odd)])
        self.assertEqual(len(self.select(f"program={odd}", f"build={odd}")), 1)


class SQLite(Stores, unittest.TestCase):
    def make_store(self):
        self.store, self.spare = self.path("store.db"), self.path("spare.db")

    def test_the_file_is_private(self):
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        self.merge([finding(1)])
        self.assertEqual(stat.S_IMODE(os.stat(self.store).st_mode), 0o600)

    def test_a_store_is_an_input_and_a_baseline(self):
        self.merge([finding(1), finding(2)])
        self.assertEqual(len(parse(report(self.store, "--format", "jsonl"))), 2)
        source = write(self.path("now.jsonl"), [finding(2), finding(3)])
        result = report(source, "--baseline", self.store, "--format", "jsonl")
        self.assertEqual((result.returncode, len(parse(result))), (3, 1))

    def test_a_store_as_an_input_keeps_its_runs(self):
        """Read, or merged into another store: the same as if that had had the runs' own files."""
        day = "2026-11-{:02d}T00:00:00Z".format
        runs = [[finding(1, count=5, time=day(1)), finding(2, count=7, time=day(2))],
                [finding(1, run="run-2", host="web-2", build_id="b002", count=10, time=day(3))],
                [finding(1, run=None, host="web-3", count=1, time=day(4))]]
        for findings in runs[:2]:
            self.merge(findings)
        direct = write(self.path("run-2.jsonl"), runs[1])
        one = [one for one in parse(report(self.store, direct, "--format", "jsonl"))
               if one["object"]["name"] == "variable_1"][0]
        self.assertEqual((one["count"], one["runs"], one["hosts"], one["builds"]), (15, 2, 2, 2))
        self.merge(runs[2])
        self.assertEqual(report("--store", self.spare, self.store, direct).returncode, 0)
        self.assertEqual(report("--store", self.spare, self.store).returncode, 0)
        for query in ("new-since=2026-11-01", "new-since-build=b002", "host=web-3", "build=b002"):
            first, second = ([[one.get(key) for key in ("id", "count", "time", "last", "runs", "hosts", "builds")]
                              for one in parse(report("--store", store, "--format", "jsonl", "--query", query))]
                             for store in (self.store, self.spare))
            self.assertEqual(first, second)
            self.assertEqual(bool(first), query != "new-since-build=b002")

    def test_missing_and_foreign_files(self):
        for content in (b"text\n" * 100, b"SQLite format 3\0" + b"\xff" * 5000):
            with open(self.store, "wb") as file:
                file.write(content)
            result = report("--store", self.store)
            self.assertEqual(result.returncode, 1)
            self.assertTrue(result.stderr.startswith("trapline report: "))
        self.assertEqual(report("--store", self.path("missing.db")).returncode, 1)
        self.assertEqual(report("--store", "/dev/null", write(self.path("a"), [])).returncode, 1)

    def test_a_foreign_schema_is_refused(self):
        for statement in ("CREATE TABLE other (a)", "CREATE VIEW v AS SELECT 1",
                          "CREATE TRIGGER t AFTER INSERT ON trapline_findings BEGIN "
                          "DELETE FROM trapline_sightings; END"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.store)
            self.merge([finding(1)])
            with contextlib.closing(sqlite3.connect(self.store)) as database:
                database.execute(statement)
                database.commit()
            result = report("--store", self.store, write(self.path("in"), [finding(2)]))
            self.assertEqual(result.returncode, 1, statement)
            self.assertIn("was not made by trapline", result.stderr)

    def test_bad_rows(self):
        for statement in ("UPDATE trapline_findings SET body = 'nonsense'",
                          "UPDATE trapline_findings SET body = '{\"v\":1,\"kind\":5}'",
                          "DELETE FROM trapline_findings",
                          "UPDATE trapline_sightings SET id = 'short'",
                          "UPDATE trapline_sightings SET first = x'00ff', count = 'many'",
                          "UPDATE trapline_sightings SET count = -1"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.store)
            self.merge([finding(1)])
            with contextlib.closing(sqlite3.connect(self.store)) as database:
                database.execute(statement)
                database.commit()
            self.assertIn(report("--store", self.store).returncode, (0, 1), statement)

    def test_random_damage(self):
        self.merge([finding(number) for number in range(30)])
        with open(self.store, "rb") as file:
            data = file.read()
        source = write(self.path("in.jsonl"), [finding(31)])
        chance = random.Random(1)
        for _ in range(60):
            damaged = bytearray(data)
            for _ in range(chance.randrange(1, 40)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            if chance.random() < 0.3:
                del damaged[chance.randrange(len(damaged)):]
            with open(self.store, "wb") as file:
                file.write(damaged)
            for arguments in ((), (source,)):
                result = report("--store", self.store, *arguments)
                self.assertIn(result.returncode, (0, 1))


@unittest.skipUnless(cluster.programs(), "PostgreSQL is not installed")
class PostgreSQL(Stores, unittest.TestCase):
    count = 0

    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster.Cluster()
        cls.place = cls.cluster.place

    @classmethod
    def tearDownClass(cls):
        cls.cluster.end()

    def make_database(self):
        PostgreSQL.count += 1
        name = f"store{PostgreSQL.count}"
        self.cluster.client("createdb", name)
        return name

    def make_store(self):
        self.store = f"host={self.place} user=trapline dbname={self.make_database()}"
        self.spare = f"postgresql://trapline@/{self.make_database()}?host={self.place}"

    def test_unreachable_and_empty(self):
        result = report("--store", f"host={self.place} user=trapline dbname=nothing")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot reach the PostgreSQL store", result.stderr)
        result = report("--store", self.store)
        self.assertEqual(result.returncode, 1)
        self.assertIn("holds no store", result.stderr)


if __name__ == "__main__":
    unittest.main()
