# SPDX-License-Identifier: Apache-2.0
"""memcached under a load of sets, gets and increments that checks its sums."""
import os
import re
import subprocess

from program import ROOT, Server, client, conversation


class Memcached(Server):
    name = package = process = "memcached"
    packages = ("gcc", "libc6-dev")
    needs = ("memcached", "gcc")
    operation = "gets, sets and counters of four clients; statistics, dumps, eviction settings, flushes"
    user = "memcache"
    quick = True

    def prepare(self, place):
        subprocess.run(["gcc", "-O2", "-pthread", "-o", place.path("load"),
                        os.path.join(ROOT, "tests", "real", "memcached_load.c")], check=True)

    def command(self, place):
        return ["memcached", "-m", "64", "-p", str(place.port), "-l", "127.0.0.1", "-P", place.path("pid"), "-U", "0"]

    def load(self, place, outcome, seconds):
        line = client([place.path("load"), place.port, seconds, 4, 8], limit=seconds + 60, status=False)
        values = dict(re.findall(r"(operations|p99|errors) (\d+)", line))
        outcome.checks.add(f"errors {values.get('errors')}")
        outcome.operations, outcome.p99 = int(values["operations"]), float(values["p99"]) / 1000

    def controls(self, place, run):
        def ask(text):
            return conversation(("127.0.0.1", place.port), text + "\r\nquit\r\n")

        def statistics():
            kinds = ("", " items", " slabs", " settings", " conns", " sizes")
            return "stats: " + " ".join(str(ask("stats" + kind).rstrip().endswith("END")) for kind in kinds)

        def settings():
            return repr([ask("lru tune 20 40 0.2 2.0"), ask("verbosity 0"), ask("cache_memlimit 64")])

        def dump():
            return "dump: " + str(ask("lru_crawler metadump all").rstrip()[-3:])

        return [statistics, settings, dump]


PROGRAM = Memcached()
