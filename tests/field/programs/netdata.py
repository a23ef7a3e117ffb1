# SPDX-License-Identifier: Apache-2.0
"""netdata's agent, asked by several clients at once."""
import signal
import threading

from program import Server, http_get, wrk

CONFIGURATION = """[global]
    hostname = field
    run as user = netdata
[directories]
    config = {folder}
    cache = {folder}/cache
    lib = {folder}/lib
    log = {folder}/log
[db]
    mode = ram
    update every = 1
[web]
    bind to = 127.0.0.1:{port}
    web server threads = 4
[plugins]
    go.d = no
    python.d = no
    charts.d = no
    apps = no
    node.d = no
    ebpf = no
    perf = no
[ml]
    enabled = no
"""
PATHS = ("/api/v1/allmetrics?format=prometheus", "/api/v1/charts", "/api/v1/alarms?all", "/api/v1/info",
         "/api/v1/allmetrics?format=shell", "/api/v1/badge.svg?chart=system.cpu")
CHART = "/api/v1/data?chart=system.cpu&after=-60&points=20"


class Netdata(Server):
    name = process = "netdata"
    package = "netdata-core"
    packages = ("wrk",)
    needs = ("netdata", "wrk")
    operation = "HTTP requests for one chart's values; all metrics at once from four more clients, charts, alarms, log rotation"
    user = "netdata"

    def prepare(self, place):
        for name in ("cache", "lib", "log", "lib/registry"):
            place.folder_of(name, self.user)
        place.write("netdata.conf", CONFIGURATION.format(folder=place.folder, port=place.port))

    def command(self, place):
        return ["netdata", "-D", "-P", place.path("netdata.pid"), "-c", place.path("netdata.conf")]

    def answers(self, place):
        """Once it has collected something."""
        return super().answers(place) and "200 OK" in http_get(place.port, CHART)[:30]

    def load(self, place, outcome, seconds):
        over = threading.Event()

        def exporter():
            while not over.wait(0.05):
                if "200 OK" not in http_get(place.port, PATHS[0])[:30]:
                    outcome.checks.add("the exporter did not answer")

        clients = [threading.Thread(target=exporter) for _ in range(4)]
        for one in clients:
            one.start()
        try:
            wrk(outcome, f"http://127.0.0.1:{place.port}{CHART}", seconds, 6)
        finally:
            over.set()
            for one in clients:
                one.join()

    def controls(self, place, run):
        def pages():
            return "pages: " + " ".join(http_get(place.port, path)[9:12] for path in PATHS)

        def reopen():
            run.signal("netdata", signal.SIGHUP)
            return "logs reopened"

        def reload_health():
            run.signal("netdata", signal.SIGUSR2)
            return "alarms reloaded"

        return [pages, reopen, pages, reload_health]


PROGRAM = Netdata()
