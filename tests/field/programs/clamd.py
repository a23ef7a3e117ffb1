# SPDX-License-Identifier: Apache-2.0
"""clamd with a signature of its own, asked to scan by several clients."""
import socket

from latency import in_parallel
from program import Server, conversation

CONFIGURATION = """
LocalSocket {folder}/clamd.sock
TCPSocket {port}
TCPAddr 127.0.0.1
DatabaseDirectory {folder}/signatures
LogFile {folder}/log
LogTime yes
User clamav
Foreground yes
MaxThreads 6
SelfCheck 1
TemporaryDirectory {folder}
"""


class Clamd(Server):
    name = process = "clamd"
    package = "clamav-daemon"
    needs = ("clamd",)
    operation = "files sent and scanned by four clients; statistics, versions, signatures reloaded"

    def prepare(self, place):
        place.write("signatures/field.ndb", "Field.Test:0:*:6669656c642d7465737421\n")
        place.write("clamd.conf", CONFIGURATION.format(folder=place.folder, port=place.port))

    def command(self, place):
        return ["clamd", "--config-file=" + place.path("clamd.conf")]

    def answers(self, place):
        try:
            return "PONG" in conversation(("127.0.0.1", place.port), "nPING\n")
        except OSError:
            return False

    def scan(self, place, data):
        with socket.create_connection(("127.0.0.1", place.port), 20) as stream:
            stream.sendall(b"nINSTREAM\n" + len(data).to_bytes(4, "big") + data + bytes(4))
            return stream.recv(4096).decode()

    def load(self, place, outcome, seconds):
        def ask(_which, number):
            good, bad = b"word " * (500 + number % 2000), b"word field-test! " * 20
            return "OK" in self.scan(place, good) if number % 2 else "FOUND" in self.scan(place, bad)

        in_parallel(outcome, seconds, 4, ask)

    def controls(self, place, run):
        def ask(word):
            return conversation(("127.0.0.1", place.port), f"n{word}\n")

        def statistics():
            return f"statistics: {'THREADS' in ask('STATS')} {ask('PING').strip()} {'ClamAV' in ask('VERSION')}"

        def reload():
            return "reload: " + ask("RELOAD").strip()

        return [statistics, reload]


PROGRAM = Clamd()
