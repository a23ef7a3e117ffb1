# SPDX-License-Identifier: Apache-2.0
"""varnishd as its unit starts it, before a server of its own that answers slowly."""
import http.server
import threading

from program import Server, client, wrk

RULES = """vcl 4.1;
backend default {{ .host = "127.0.0.1"; .port = "{port}"; }}
sub vcl_backend_response {{ set beresp.ttl = 300ms; set beresp.grace = 1s; }}
"""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"<p>{self.path} ".encode() + b"word " * 2000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words):
        pass


class Varnish(Server):
    name = package = "varnish"
    process = "varnishd"
    packages = ("wrk",)
    needs = ("varnishd", "varnishadm", "varnishstat", "wrk")
    operation = "HTTP requests to a cache whose objects live 300 ms; statistics, bans, new rules, parameters"

    def prepare(self, place):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place.write("rules.vcl", RULES.format(port=server.server_port))

    def command(self, place):
        return ["varnishd", "-j", "unix,user=vcache", "-F", "-a", f"127.0.0.1:{place.port}", "-T",
                f"127.0.0.1:{place.port_of('admin')}", "-f", place.path("rules.vcl"), "-n", place.path("work"), "-s",
                "malloc,32m", "-p", "feature=+http2"]

    def load(self, place, outcome, seconds):
        for path in ("one", "two"):
            wrk(outcome, f"http://127.0.0.1:{place.port}/{path}", seconds / 2)

    def controls(self, place, run):
        versions = iter(range(1000))

        def ask(*words):
            return client(["varnishadm", "-n", place.path("work"), *words], status=False).strip()

        def statistics():
            return "statistics: " + str("MAIN.cache_hit" in client(["varnishstat", "-1", "-n", place.path("work")]))

        def ban():
            return "bans: " + repr(ask("ban", "req.url ~ one")) + str(len(ask("ban.list")) > 5)

        def rules():
            name = f"new{next(versions)}"
            ask("vcl.load", name, place.path("rules.vcl"))
            return "rules: " + ask("vcl.use", name).replace(name, "new")

        def others():
            return "others: " + " ".join(str(len(ask(*words)) > 5) for words in (
                ("backend.list",), ("panic.show",), ("param.show",), ("storage.list",)))

        return [statistics, ban, rules, others]


PROGRAM = Varnish()
