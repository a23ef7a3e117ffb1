# SPDX-License-Identifier: Apache-2.0
"""icecast2 with sources that come and go, and listeners."""
import base64
import signal
import socket
import threading
import time

from program import Server, http_get

CONFIGURATION = """<icecast>
  <limits><clients>100</clients><sources>4</sources><queue-size>524288</queue-size><client-timeout>10</client-timeout>
    <header-timeout>5</header-timeout><source-timeout>5</source-timeout><burst-size>65535</burst-size></limits>
  <authentication><source-password>secret</source-password><admin-user>admin</admin-user>
    <admin-password>secret</admin-password></authentication>
  <hostname>localhost</hostname>
  <listen-socket><port>{port}</port><bind-address>127.0.0.1</bind-address></listen-socket>
  <mount type="normal"><mount-name>/a</mount-name><fallback-mount>/b</fallback-mount>
    <fallback-override>1</fallback-override></mount>
  <fileserve>1</fileserve>
  <paths><basedir>/usr/share/icecast2</basedir><logdir>{folder}</logdir><webroot>/usr/share/icecast2/web</webroot>
    <adminroot>/usr/share/icecast2/admin</adminroot></paths>
  <logging><accesslog>access.log</accesslog><errorlog>error.log</errorlog><loglevel>3</loglevel></logging>
  <security><chroot>0</chroot></security>
</icecast>
"""
PASSWORD = base64.b64encode(b"source:secret").decode()
ADMIN = "Authorization: Basic " + base64.b64encode(b"admin:secret").decode() + "\r\n"


class Icecast(Server):
    name = package = process = "icecast2"
    needs = ("icecast2",)
    operation = "KB to six listeners who come and go, from two sources; statistics, metadata, listeners sent off, reload"
    user, group = "icecast2", "icecast"

    def prepare(self, place):
        place.write("icecast.xml", CONFIGURATION.format(folder=place.folder, port=place.port))

    def command(self, place):
        return ["icecast2", "-c", place.path("icecast.xml")]

    def source(self, place, mount, over):
        """Sends until all is over; every second it goes away and comes again."""
        while not over.is_set():
            try:
                with socket.create_connection(("127.0.0.1", place.port), 5) as stream:
                    stream.sendall(f"SOURCE {mount} HTTP/1.0\r\nAuthorization: Basic {PASSWORD}\r\n"
                                   "Content-Type: audio/mpeg\r\nice-name: field\r\n\r\n".encode())
                    for _ in range(120):
                        stream.sendall(bytes(range(256)) * 16)
                        if over.wait(0.01):
                            break
            except OSError:
                pass
            over.wait(0.1)

    def listener(self, place, mount, over, counts):
        while not over.is_set():
            try:
                with socket.create_connection(("127.0.0.1", place.port), 5) as stream:
                    stream.sendall(f"GET {mount} HTTP/1.0\r\nIcy-MetaData: 1\r\n\r\n".encode())
                    stream.settimeout(1)
                    for _ in range(200):
                        counts.append(len(stream.recv(65536)))
                        if over.is_set() or not counts[-1]:
                            break
            except OSError:
                pass
            over.wait(0.02)

    def load(self, place, outcome, seconds):
        over, counts = threading.Event(), []
        clients = [threading.Thread(target=self.source, args=(place, mount, over)) for mount in ("/a", "/b")]
        clients += [threading.Thread(target=self.listener, args=(place, mount, over, counts))
                    for mount in ("/a", "/b", "/a", "/b", "/a", "/b")]
        for one in clients:
            one.start()
        time.sleep(seconds)
        over.set()
        for one in clients:
            one.join()
        outcome.operations = sum(counts) // 1024
        outcome.checks.add(f"listeners heard something: {outcome.operations > 100}")

    def controls(self, place, run):
        def ask(path):
            return http_get(place.port, path, ADMIN).split("\r\n")[0].split(" ", 1)[-1]

        def statistics():
            return "statistics: " + ", ".join(ask(path) for path in (
                "/admin/stats", "/status-json.xsl", "/admin/listmounts", "/status.xsl"))

        def metadata():
            ask("/admin/metadata?mount=/a&mode=updinfo&song=Field")
            ask("/admin/listclients?mount=/a")
            ask("/admin/moveclients?mount=/b&destination=/a")
            ask("/admin/killclient?mount=/a&id=7")
            return "metadata set"

        def reload():
            run.signal("icecast2", signal.SIGHUP)
            time.sleep(0.3)
            return "after reload: " + ask("/admin/stats")

        return [statistics, metadata, statistics, reload]


PROGRAM = Icecast()
