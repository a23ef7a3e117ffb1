# SPDX-License-Identifier: Apache-2.0
"""privoxy in the background, in front of a web server of ours, with the filters of its package."""
import os
import signal

from latency import in_parallel
from program import Server, conversation
from web import serve

CONFIGURATION = """
confdir /etc/privoxy
logdir {folder}
actionsfile match-all.action
actionsfile default.action
filterfile default.filter
logfile log
debug 1
debug 1024
debug 8192
listen-address 127.0.0.1:{port}
toggle 1
enable-remote-toggle 1
enforce-blocks 0
buffer-limit 4096
keep-alive-timeout 5
socket-timeout 30
"""


class Privoxy(Server):
    name = package = process = "privoxy"
    needs = ("privoxy",)
    operation = "pages fetched and filtered for five clients; its own pages, switched off and on, log rotation, settings read again"

    def prepare(self, place):
        serve(place)
        place.write("config", CONFIGURATION.format(folder=place.folder, port=place.port), 0o666)

    def command(self, place):
        return ["privoxy", "--pidfile", place.path("pid"), "--user", "privoxy", place.path("config")]

    def get(self, place, url):
        host = url.split("/")[2]
        return conversation(("127.0.0.1", place.port), f"GET {url} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n", 30)

    def load(self, place, outcome, seconds):
        def ask(_which, number):
            page = self.get(place, f"http://127.0.0.1:{place.port_of('web')}/page{number % 7}")
            return "200" in page.split("\r\n")[0] and "</body></html>" in page

        in_parallel(outcome, seconds, 5, ask)

    def controls(self, place, run):
        def status():
            return "status: " + str("Privoxy" in self.get(place, "http://config.privoxy.org/show-status"))

        def url():
            return "url: " + str("example" in self.get(place, "http://config.privoxy.org/show-url-info?url=example.org"))

        def rotate():
            os.rename(place.path("log"), place.path("log.1"))
            run.signal(self.process, signal.SIGHUP)
            return "rotated"

        def again():
            os.utime(place.path("config"))
            return "settings touched"

        return [status, url, rotate, again]


PROGRAM = Privoxy()
