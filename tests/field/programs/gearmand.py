# SPDX-License-Identifier: Apache-2.0
"""gearmand with workers and clients of our own, and its administration."""
import os
import socket
import struct
import threading

from latency import in_parallel
from program import Server

CAN_DO, PRE_SLEEP, NOOP, SUBMIT_JOB, JOB_CREATED, GRAB_JOB, NO_JOB, JOB_ASSIGN = 1, 4, 6, 7, 8, 9, 10, 11
WORK_STATUS, WORK_COMPLETE = 12, 13
HEADER = struct.Struct(">4sII")
WORKERS = 3


class Peer:
    """One end of gearmand's binary protocol."""

    def __init__(self, port):
        self.stream = socket.create_connection(("127.0.0.1", port), 20)
        self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.stream.makefile("rb")

    def send(self, kind, *parts):
        data = b"\0".join(parts)
        self.stream.sendall(HEADER.pack(b"\0REQ", kind, len(data)) + data)

    def receive(self):
        _, kind, length = HEADER.unpack(self.file.read(HEADER.size))
        return kind, self.file.read(length).split(b"\0")

    def close(self):
        self.stream.shutdown(socket.SHUT_RDWR)


def work(peer):
    """A worker that turns its data around, until its connection is shut."""
    try:
        peer.send(CAN_DO, b"reverse")
        while True:
            peer.send(GRAB_JOB)
            kind, parts = peer.receive()
            while kind == NOOP:
                kind, parts = peer.receive()
            if kind == JOB_ASSIGN:
                peer.send(WORK_STATUS, parts[0], b"1", b"2")
                peer.send(WORK_COMPLETE, parts[0], parts[2][::-1])
            else:
                peer.send(PRE_SLEEP)
                peer.receive()
    except (OSError, struct.error):
        return


class Gearmand(Server):
    name = process = "gearmand"
    package = "gearman-job-server"
    needs = ("gearmand",)
    operation = "jobs of six clients for three workers; its status, workers, limits and versions asked for"
    user = "gearman"

    def command(self, place):
        return ["gearmand", "--pid-file=" + place.path("pid"), "--listen=127.0.0.1", f"--port={place.port}", "--daemon",
                "--log-file=" + place.path("log"), "--threads=4"]

    def load(self, place, outcome, seconds):
        workers = [Peer(place.port) for _ in range(WORKERS)]
        threads = [threading.Thread(target=work, args=(one,)) for one in workers]
        clients = [Peer(place.port) for _ in range(6)]

        def ask(which, number):
            data = f"{which}-{number}".encode()
            clients[which].send(SUBMIT_JOB, b"reverse", b"", data)
            kind = None
            while kind != WORK_COMPLETE:
                kind, parts = clients[which].receive()
            return parts[1] == data[::-1]

        for one in threads:
            one.start()
        in_parallel(outcome, seconds, len(clients), ask)
        for one in workers + clients:
            one.close()
        for one in threads:
            one.join()

    def controls(self, place, run):
        def ask(text):
            with socket.create_connection(("127.0.0.1", place.port), 10) as stream:
                stream.sendall(text.encode() + b"\n")
                return stream.recv(65536).decode(errors="replace")

        def status():
            return "status: " + str("." in ask("status")) + " " + str("." in ask("workers"))

        def limit():
            return "limit: " + ask("maxqueue reverse 1000").strip()

        def version():
            return "version: " + ask("version").split()[0] + " " + ask("verbose").split()[0]

        def come_and_go():
            peer = Peer(place.port)
            peer.send(CAN_DO, b"other")
            peer.close()
            return "came and went: " + str(os.path.exists(place.path("pid")))

        return [status, limit, come_and_go, version]


PROGRAM = Gearmand()
