# SPDX-License-Identifier: Apache-2.0
"""mariadbd as its unit starts it, with clients that write, read and administrate."""
import signal
import subprocess
import re
import time

from program import Server, client, Failure


class Mariadb(Server):
    name = "mariadb"
    package = "mariadb-server"
    packages = ("mariadb-client",)
    process = "mariadbd"
    needs = ("mariadbd", "mariadb-install-db", "mariadb-slap", "mariadb")
    operation = "queries of 8 clients, reading and writing; status, process list, log and table flushes, settings"
    user = "mysql"

    def prepare(self, place):
        place.folder_of("data", self.user)
        subprocess.run(["mariadb-install-db", "--no-defaults", "--user=mysql", "--datadir=" + place.path("data"),
                        "--skip-test-db", "--auth-root-authentication-method=normal", "--innodb-log-file-size=16M"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def command(self, place):
        return ["mariadbd", "--no-defaults", "--datadir=" + place.path("data"), "--socket=" + place.path("sock"),
                "--pid-file=" + place.path("pid"), f"--port={place.port}", "--bind-address=127.0.0.1",
                "--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M",
                "--log-bin=" + place.path("data/binlog"), "--server-id=1", "--general-log=1",
                "--general-log-file=" + place.path("data/general.log"), "--log-error=" + place.path("data/error.log"),
                "--slow-query-log=1", "--performance-schema=on", "--query-cache-type=1", "--query-cache-size=1M",
                "--thread-handling=pool-of-threads"]

    def sql(self, place, text):
        return client(["mariadb", "--no-defaults", "-uroot", "-S", place.path("sock"), "-BN", "-e", text])

    def answers(self, place):
        try:
            return self.sql(place, "select 1").strip() == "1"
        except (Failure, OSError):
            return False

    def load(self, place, outcome, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = client(["mariadb-slap", "--no-defaults", "-uroot", "-S", place.path("sock"), "--concurrency=8",
                           "--auto-generate-sql", "--auto-generate-sql-load-type=mixed", "--number-of-queries=4000",
                           "--auto-generate-sql-add-autoincrement", "--engine=innodb"])
            clients = re.search(r"running queries: (\d+)", text)
            outcome.checks.add(f"clients {clients and clients.group(1)}")
            outcome.operations += 4000

    def settle(self, place, outcome):
        self.sql(place, "create database d; use d; create table d.t (a int primary key auto_increment, b int);"
                        "insert into d.t (b) select seq from seq_1_to_1000")
        outcome.checks.add("sum " + self.sql(place, "select sum(b) from d.t; check table d.t"))
        outcome.checks.add("aborted clients " + self.sql(place, "show global status like 'Aborted_clients'"))

    def controls(self, place, run):
        def status():
            texts = ["show global status", "show engine innodb status", "show full processlist",
                     "select count(*) from information_schema.innodb_metrics",
                     "select count(*) from performance_schema.threads", "show status like 'Thread%'"]
            return "status: " + " ".join(str(len(self.sql(place, text)) > 0) for text in texts)

        def flush():
            return "flush: " + self.sql(place, "flush logs; flush tables; flush status; purge binary logs before now()")

        def settings():
            return "settings: " + self.sql(
                place, "set global innodb_buffer_pool_size=96*1024*1024; set global max_connections=200;"
                       "set global general_log=0; set global general_log=1; set global innodb_buffer_pool_size=64*1024*1024")

        return [status, flush, status, settings]

    end_signal = signal.SIGTERM


PROGRAM = Mariadb()
