# SPDX-License-Identifier: Apache-2.0
"""turnserver with four relay threads, clients that relay to each other, and its command line."""
import re
import socket

from latency import probing
from program import Server, client

CONFIGURATION = """
listening-port={port}
listening-ip=127.0.0.1
relay-ip=127.0.0.1
relay-threads=4
no-tls
no-dtls
no-auth
allow-loopback-peers
cli-ip=127.0.0.1
cli-port={cli}
cli-password=secret
log-file={folder}/log
simple-log
userdb={folder}/turndb
"""
BINDING = b"\x00\x01\x00\x00\x21\x12\xa4\x42" + b"trapline-one"
RATE = 50    # messages of one client in a second


class Coturn(Server):
    name = package = "coturn"
    process = "turnserver"
    needs = ("turnserver", "turnutils_uclient")
    operation = "messages of ten clients relayed at a given rate; sessions listed, quotas and lifetimes set by its command line"
    user = "turnserver"

    def prepare(self, place):
        place.folder_of(".", self.user)
        place.write("conf", CONFIGURATION.format(folder=place.folder, port=place.port, cli=place.port_of("cli")))

    def command(self, place):
        return ["turnserver", "-c", place.path("conf"), "--pidfile="]

    def answers(self, place):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
            stream.settimeout(0.5)
            try:
                stream.sendto(BINDING, ("127.0.0.1", place.port))
                return stream.recv(512)[:2] == b"\x01\x01"
            except OSError:
                return False

    def load(self, place, outcome, seconds):
        with probing(outcome, lambda: self.answers(place)):
            text = client(["turnutils_uclient", "-y", "-c", "-m", 10, "-n", round(seconds * RATE), "-z", round(1000 / RATE),
                           "-p", place.port, "127.0.0.1"], limit=seconds + 60)
        received = [int(number) for number in re.findall(r"tot_recv_msgs=(\d+)", text)]
        outcome.operations = max(received)

    def controls(self, place, run):
        def heard(stream, prompt):
            text = b""
            while not text.endswith(prompt):
                text += stream.recv(65536) or prompt
            return text.decode(errors="replace")

        def ask(*words):
            with socket.create_connection(("127.0.0.1", place.port_of("cli")), 10) as stream:
                heard(stream, b"password: \r\n")
                answer = ""
                for word in ("secret", *words):
                    stream.sendall(word.encode() + b"\r\n")
                    answer += heard(stream, b"> ")
            return answer

        def sessions():
            return "sessions: " + str("Total sessions" in ask("ps", "psp"))

        def settings():
            return "settings: " + str("total-quota" in ask("cc total-quota 1000", "cc max-bps 10000000", "pc"))

        return [sessions, settings]


PROGRAM = Coturn()
