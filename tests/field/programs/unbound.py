# SPDX-License-Identifier: Apache-2.0
"""unbound with four threads, as its unit starts it, for a zone of its own and a stub it forwards to."""
from dns import ZONE, NameServer
from program import client

CONFIGURATION = """
server:
    username: "unbound"
    chroot: ""
    directory: "{folder}"
    pidfile: "{folder}/pid"
    interface: 127.0.0.1@{port}
    port: {port}
    num-threads: 4
    so-reuseport: no
    do-not-query-localhost: no
    statistics-interval: 1
    extended-statistics: yes
    serve-expired: yes
    prefetch: yes
    cache-max-ttl: 1
    logfile: "{folder}/log"
    use-syslog: no
    auto-trust-anchor-file: ""
    trust-anchor-file: ""
    module-config: "iterator"
    local-zone: "test." nodefault
auth-zone:
    name: "field.test"
    zonefile: "{folder}/zone"
    for-downstream: no
    for-upstream: yes
remote-control:
    control-enable: yes
    control-interface: {folder}/control
    control-use-cert: no
"""


class Unbound(NameServer):
    name = package = process = "unbound"
    needs = ("unbound", "unbound-control", "dnsperf")
    operation = "questions by UDP and TCP at a given rate; statistics, cache dumps and flushes, zones added, reload"

    def prepare(self, place):
        place.write("zone", ZONE, 0o666)
        place.folder_of(".")
        place.write("unbound.conf", CONFIGURATION.format(folder=place.folder, port=place.port))

    def command(self, place):
        return ["unbound", "-d", "-p", "-c", place.path("unbound.conf")]

    def controls(self, place, run):
        def ask(*words):
            return client(["unbound-control", "-c", place.path("unbound.conf"), *words], status=False)

        def statistics():
            return "statistics: " + " ".join(str(word in ask("stats_noreset")) for word in ("total.num.queries", "thread3"))

        def dump():
            return "dump: " + str("END_RRSET_CACHE" in ask("dump_cache"))

        def change():
            orders = (("local_zone", "more.test", "static"), ("local_data", "x.more.test A 127.0.0.9"),
                      ("flush_zone", "field.test"), ("local_zone_remove", "more.test"), ("verbosity", "1"))
            return "changed: " + " ".join(ask(*order).split()[0] for order in orders)

        def reload():
            return "reload: " + ask("reload").strip()

        return [statistics, dump, change, statistics, reload]


PROGRAM = Unbound()
