# SPDX-License-Identifier: Apache-2.0
"""pdns_recursor with threads of its own kinds, for a zone that it serves itself."""
from dns import ZONE, NameServer
from program import client


class Recursor(NameServer):
    name = "pdns_recursor"
    package = "pdns-recursor"
    process = "pdns_recursor"
    needs = ("pdns_recursor", "rec_control", "dnsperf")
    operation = "questions by UDP and TCP at a given rate; statistics, cache dumps and wipes, top lists, zones reloaded"

    def prepare(self, place):
        place.write("zone", ZONE, 0o666)

    def command(self, place):
        return ["pdns_recursor", "--daemon=no", "--write-pid=no", "--disable-syslog", "--setuid=pdns", "--setgid=pdns",
                "--local-address=127.0.0.1", f"--local-port={place.port}", "--threads=4", "--socket-dir=" + place.folder,
                "--auth-zones=field.test=" + place.path("zone"), "--quiet=yes", "--config-dir=" + place.folder,
                "--dnssec=off", "--packetcache-ttl=1", "--statistics-interval=1", "--loglevel=3"]

    def controls(self, place, run):
        def ask(*words):
            return client(["rec_control", "--config-dir=" + place.folder, "--socket-dir=" + place.folder, *words], status=False)

        def statistics():
            return "statistics: " + " ".join(str(len(ask(word)) > 5) for word in (
                "get-all", "top-queries", "top-remotes", "current-queries", "ping"))

        def caches():
            return "caches: " + " ".join(ask(*words).split(" ")[0] for words in (
                ("wipe-cache", "field.test$"), ("set-max-cache-entries", "100000")))

        def reload():
            return "reload: " + ask("reload-zones").strip()

        return [statistics, caches, reload]


PROGRAM = Recursor()
