# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL: processes, not threads, which share memory that is watched in each."""
import glob
import re
import signal

from latency import percentile_99
from program import Failure, Server, client


class Postgres(Server):
    name = process = "postgres"
    package = "postgresql-15"
    needs = ("initdb", "postgres", "pgbench", "psql")
    operation = "transactions of six clients; statistics, vacuum, checkpoints, log rotation, reload"
    user = "postgres"
    end_signal = signal.SIGINT

    def prepare(self, place):
        place.folder_of("data", self.user)
        client([*self.as_user(), "initdb", "-D", place.path("data"), "-U", "tester", "--no-sync", "-A", "trust"])

    def command(self, place):
        return ["/usr/lib/postgresql/15/bin/postgres", "-D", place.path("data"), "-p", str(place.port), "-k", place.folder,
                "-c", "fsync=off", "-c", "listen_addresses=127.0.0.1", "-c", "logging_collector=on", "-c",
                "log_directory=" + place.path("data"), "-c", "log_min_duration_statement=0"]

    def sql(self, place, text):
        return client(["psql", "-h", "127.0.0.1", "-p", place.port, "-U", "tester", "-At", "-c", text, "postgres"]).strip()

    def answers(self, place):
        try:
            return self.sql(place, "select 1") == "1"
        except Failure:
            return False

    @staticmethod
    def durations(place):
        """Of the transactions: the third column of pgbench's logs, in microseconds."""
        for path in glob.glob(place.path("transactions.*")):
            with open(path, encoding="utf-8") as log:
                yield from (int(line.split()[2]) / 1e6 for line in log if line.split()[2].isdigit())

    def load(self, place, outcome, seconds):
        at = ["-h", "127.0.0.1", "-p", place.port, "-U", "tester"]
        client(["pgbench", *at, "-i", "-s", "2", "-q", "postgres"])
        text = client(["pgbench", *at, "-c", "6", "-j", "2", "-T", round(seconds), "-l",
                       "--log-prefix=" + place.path("transactions"), "postgres"], limit=seconds + 120)
        outcome.p99 = percentile_99(self.durations(place))
        outcome.operations = int(re.search(r"actually processed: (\d+)", text).group(1))
        outcome.checks.add(re.search(r"failed transactions: (\d+)", text).group(0))

    def settle(self, place, outcome):
        outcome.checks.add("sums are right: " + self.sql(
            place, "select (select sum(tbalance) from pgbench_tellers) = (select sum(bbalance) from pgbench_branches)"))

    def controls(self, place, run):
        def statistics():
            return "statistics: " + self.sql(place, "select count(*) > 0 from pg_stat_activity, pg_stat_bgwriter, pg_locks")

        def maintain():
            return "maintained: " + self.sql(place, "checkpoint") + self.sql(place, "vacuum analyze pg_class")

        def rotate():
            return "rotated: " + self.sql(place, "select pg_rotate_logfile(), pg_reload_conf()")

        return [statistics, maintain, rotate]


PROGRAM = Postgres()
