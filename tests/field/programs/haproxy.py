# SPDX-License-Identifier: Apache-2.0
"""haproxy as its unit starts it: a master that waits for orders, workers of four threads."""
import os
import signal
import time

from program import Server, client, conversation, http_get, wrk

CONFIGURATION = """
global
    stats socket {folder}/admin.sock mode 660 level admin expose-fd listeners
    stats timeout 30s
    nbthread 4
    user haproxy
    group haproxy
    log 127.0.0.1:{log} local0
defaults
    mode http
    log global
    option httplog
    timeout connect 5s
    timeout client 20s
    timeout server 20s
frontend web
    bind 127.0.0.1:{port}
    stick-table type ip size 10k expire 30s store http_req_rate(10s),conn_cur
    http-request track-sc0 src
    stats enable
    stats uri /stats
    use_backend direct if {{ path /direct }}
    default_backend pool
backend direct
    http-request return status 200 content-type text/plain string "direct"
backend pool
    balance leastconn
    option httpchk GET /
    default-server check inter 300ms fall 10
    server a 127.0.0.1:{inner} maxconn 30
    server b 127.0.0.1:{inner} maxconn 30
frontend inner
    bind 127.0.0.1:{inner}
    http-request return status 200 content-type text/plain string "inner"
"""


class Haproxy(Server):
    name = package = process = "haproxy"
    packages = ("wrk",)
    needs = ("haproxy", "wrk")
    operation = "HTTP requests through a pool of servers; health checks, statistics, servers switched off and on, reload"
    quick = True

    def prepare(self, place):
        place.write("haproxy.cfg", CONFIGURATION.format(folder=place.folder, port=place.port,
                                                        log=place.port_of("log"), inner=place.port_of("inner")))

    def command(self, place):
        return ["haproxy", "-Ws", "-f", place.path("haproxy.cfg"), "-p", place.path("haproxy.pid"),
                "-S", place.path("master.sock")]

    def load(self, place, outcome, seconds):
        time.sleep(0.5)
        for path, connections in (("/", 20), ("/direct", 8)):
            wrk(outcome, f"http://127.0.0.1:{place.port}{path}", seconds / 2, connections)

    def controls(self, place, run):
        def ask(text):
            return conversation(place.path("admin.sock"), text + "\n")

        def statistics():
            lines = ask("show stat").splitlines()
            return "show stat: " + " ".join(sorted(",".join(line.split(",")[:2]) for line in lines if line))

        def others():
            return "others: " + " ".join(str(len(ask(text)) > 20) for text in (
                "show info", "show sess", "show activity", "show table web", "show pools", "show fd", "show threads"))

        def servers():
            return repr(ask("disable server pool/a") + ask("set server pool/b weight 50%") + ask("enable server pool/a"))

        def page():
            return "page: " + http_get(place.port, "/stats;csv").split("\r\n")[0]

        def reload():
            os.kill(run.processes("haproxy")[0][0], signal.SIGUSR2)
            time.sleep(0.7)
            return "reload: " + client(["wrk", "-t1", "-c1", "-d1", f"http://127.0.0.1:{place.port}/direct"])[:12]

        return [statistics, others, servers, page, statistics, others, reload]


PROGRAM = Haproxy()
