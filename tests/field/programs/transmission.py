# SPDX-License-Identifier: Apache-2.0
"""transmission-daemon, asked over its interface while it checks and announces files."""
import json
import os
import re
import signal
import time

from latency import percentile_99
from program import Failure, Server, client, conversation, http_get


class Transmission(Server):
    name, package = "transmission", "transmission-daemon"
    packages = ("transmission-cli",)
    process = "transmission-da"
    needs = ("transmission-daemon", "transmission-create", "transmission-remote")
    operation = "requests over its interface; files added, verified and removed, statistics, settings, reload"
    user = "debian-transmission"

    def prepare(self, place):
        place.folder_of("home", self.user)
        place.folder_of("files", self.user)
        for number in range(4):
            with open(place.path(f"files/data{number}"), "wb") as file:
                file.write(bytes((i * (number + 3)) % 251 for i in range(65536)) * 64)
            client(["transmission-create", "-o", place.path(f"{number}.torrent"), place.path(f"files/data{number}")])
            os.chmod(place.path(f"{number}.torrent"), 0o644)

    def command(self, place):
        return ["transmission-daemon", "-f", "-g", place.path("home"), "-p", str(place.port), "-P",
                str(place.port_of("peers")), "-w", place.path("files"), "-T", "-M", "--no-dht", "--no-lpd",
                "--rpc-bind-address", "127.0.0.1", "-a", "127.0.0.1", "--log-error"]

    def ask(self, place, method, arguments):
        """Again, where a reload has just closed the interface."""
        for _ in range(20):
            try:
                return self.ask_once(place, method, arguments)
            except (OSError, AttributeError, IndexError):
                time.sleep(0.1)
        raise Failure("its interface does not answer")

    def ask_once(self, place, method, arguments):
        body = json.dumps({"method": method, "arguments": arguments})
        token = re.search(r"X-Transmission-Session-Id: (\S+)", http_get(place.port, "/transmission/rpc")).group(1)
        answer = conversation(("127.0.0.1", place.port), "POST /transmission/rpc HTTP/1.0\r\nHost: localhost\r\n"
                              f"X-Transmission-Session-Id: {token}\r\nContent-Length: {len(body)}\r\n\r\n{body}")
        return json.loads(answer.split("\r\n\r\n", 1)[1])["result"]

    def load(self, place, outcome, seconds):
        end, durations = time.monotonic() + seconds, []
        fields = ["id", "name", "percentDone", "peers", "trackerStats", "files", "wanted", "rateUpload", "status"]
        while time.monotonic() < end:
            begun = time.monotonic()
            outcome.checks.add("get: " + self.ask(place, "torrent-get", {"fields": fields}))
            outcome.checks.add("statistics: " + self.ask(place, "session-stats", {}))
            outcome.operations += 2
            durations.append(time.monotonic() - begun)
        outcome.p99 = percentile_99(durations)

    def controls(self, place, run):
        def add():
            return "added: " + " ".join(self.ask(place, "torrent-add", {
                "filename": place.path(f"{number}.torrent"), "download-dir": place.path("files")}) for number in range(4))

        def verify():
            return "verified: " + self.ask(place, "torrent-verify", {})

        def settings():
            return "settings: " + self.ask(place, "session-set", {"speed-limit-up": 100, "speed-limit-up-enabled": True})

        def remove():
            return "removed: " + self.ask(place, "torrent-remove", {"ids": [1, 2, 3]})

        def reload():
            run.signal(self.process, signal.SIGHUP)
            return "reloaded"

        return [add, verify, settings, verify, remove, reload]


PROGRAM = Transmission()
