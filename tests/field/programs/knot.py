# SPDX-License-Identifier: Apache-2.0
"""knotd, with workers for UDP and TCP and background jobs, for a zone that is edited meanwhile."""
from dns import ZONE, NameServer
from program import client

CONFIGURATION = """
server:
    rundir: "{folder}"
    user: knot:knot
    listen: 127.0.0.1@{port}
    udp-workers: 4
    tcp-workers: 3
    background-workers: 3
log:
  - target: {folder}/log
    any: info
database:
    storage: "{folder}/db"
mod-stats:
  - id: default
    query-type: on
    response-code: on
template:
  - id: default
    storage: "{folder}"
    file: "zone"
    journal-content: changes
    global-module: mod-stats/default
zone:
  - domain: field.test
    dnssec-signing: on
"""


class Knot(NameServer):
    name = package = "knot"
    process = "knotd"
    needs = ("knotd", "knotc", "dnsperf")
    operation = "questions by UDP and TCP at a given rate; statistics, edits of the signed zone, flushes, reload"
    user = "knot"

    def prepare(self, place):
        place.write("zone", ZONE, 0o666)
        place.folder_of("db", self.user)
        place.write("knot.conf", CONFIGURATION.format(folder=place.folder, port=place.port))

    def command(self, place):
        return ["knotd", "-c", place.path("knot.conf")]

    def controls(self, place, run):
        names = iter(range(1000000))

        def ask(*words):
            return client(["knotc", "-c", place.path("knot.conf"), "-s", place.path("knot.sock"), *words], status=False)

        def statistics():
            return "statistics: " + " ".join(str(word in ask("-f", "stats")) for word in ("mod-stats", "server.zone-count"))

        def edit():
            ask("zone-begin", "field.test")
            ask("zone-set", "field.test", f"new{next(names)}", "60", "A", "127.0.0.8")
            return "edited: " + ask("zone-commit", "field.test").strip()

        def others():
            orders = (("zone-status",), ("zone-flush",), ("zone-sign", "field.test"), ("status",), ("conf-read", "server"))
            return "others: " + " ".join(str(len(ask(*order)) > 1) for order in orders)

        def reload():
            return "reload: " + ask("reload").strip()

        return [statistics, edit, others, edit, reload]


PROGRAM = Knot()
