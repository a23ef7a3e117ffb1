# SPDX-License-Identifier: Apache-2.0
"""stunnel in the background, in front of a web server of ours."""
import signal
import socket
import ssl

from latency import in_parallel
from program import Server, client
from web import serve

CONFIGURATION = """
setuid = stunnel4
setgid = stunnel4
pid = {folder}/pid
output = {folder}/log
debug = 5
[field]
accept = 127.0.0.1:{port}
connect = 127.0.0.1:{web}
cert = {folder}/cert.pem
key = {folder}/key.pem
sessionCacheSize = 50
"""


class Stunnel(Server):
    name = "stunnel"
    package = "stunnel4"
    process = "stunnel4"
    packages = ("openssl",)
    needs = ("stunnel4", "openssl")
    operation = "connections of five clients, each with one page; reload, log rotation, a list of connections"

    def prepare(self, place):
        serve(place)
        place.folder_of(".")
        client(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-keyout", place.path("key.pem"), "-out", place.path("cert.pem")])
        place.write("stunnel.conf", CONFIGURATION.format(folder=place.folder, port=place.port, web=place.port_of("web")))

    def command(self, place):
        return ["stunnel4", place.path("stunnel.conf")]

    def load(self, place, outcome, seconds):
        context = ssl.create_default_context(cafile=place.path("cert.pem"))
        context.check_hostname = False

        def ask(_which, number):
            with socket.create_connection(("127.0.0.1", place.port), 20) as plain:
                with context.wrap_socket(plain) as stream:
                    stream.sendall(f"GET /{number} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
                    return stream.recv(4096).startswith(b"HTTP/1.1 200")

        in_parallel(outcome, seconds, 5, ask)

    def controls(self, place, run):
        def send(number, line):
            def control():
                run.signal(self.process, number)
                return line
            return control

        return [send(signal.SIGUSR1, "log rotated"), send(signal.SIGUSR2, "connections listed"), send(signal.SIGHUP, "reloaded")]


PROGRAM = Stunnel()
