# SPDX-License-Identifier: Apache-2.0
"""redis-server with I/O threads."""
import time

from program import Server, client


class Redis(Server):
    name = "redis"
    package = process = "redis-server"
    packages = ("redis-tools",)
    needs = ("redis-server", "redis-benchmark", "redis-cli")
    operation = "requests of 30 clients; INFO, a snapshot, a rewritten log, settings, lazy deletion"
    user = "redis"

    def command(self, place):
        return ["redis-server", "--port", str(place.port), "--bind", "127.0.0.1", "--io-threads", "3",
                "--io-threads-do-reads", "yes", "--save", "", "--dir", place.folder, "--appendonly", "yes"]

    def load(self, place, outcome, seconds):
        end, rounds, requests, slowest = time.monotonic() + seconds, 0, 4000, 0
        while time.monotonic() < end:
            text = client(["redis-benchmark", "-p", place.port, "-n", requests, "-c", 30, "--csv", "-t",
                           "set,get,incr,lpush,hset,zadd"])
            rows = [row.replace('"', "").split(",") for row in text.strip().split("\n")[1:]]
            outcome.operations += requests * len(rows)
            slowest = max([slowest, *(float(row[6]) for row in rows)])
            rounds += 1
        outcome.p99 = slowest
        counter = self.ask(place, "get", "counter:__rand_int__")
        outcome.checks.add(f"counter right: {int(counter) == rounds * requests}")

    def ask(self, place, *words):
        return client(["redis-cli", "-p", place.port, *words]).strip()

    def controls(self, place, run):
        def information():
            return "info: " + str("used_memory" in self.ask(place, "info", "all"))

        def snapshot():
            return "bgsave: " + self.ask(place, "bgsave", "schedule")[:10]

        def rewrite():
            return "rewrite: " + self.ask(place, "bgrewriteaof")[:10]

        def settings():
            return "settings: " + self.ask(place, "config", "set", "maxmemory-policy", "allkeys-lru")

        def unlink():
            self.ask(place, "rpush", "long", *(str(number) for number in range(300)))
            return "unlink: " + self.ask(place, "unlink", "long")

        return [information, snapshot, unlink, settings, rewrite]


PROGRAM = Redis()
