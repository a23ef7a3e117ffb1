# SPDX-License-Identifier: Apache-2.0
"""dnsperf itself, with its statistics each second, against a server of ours."""
import re
import socket
import threading

from program import Batch

QUERIES, RATE = 600, 3000
ROUNDS = 30


def answer(stream):
    """Until the socket is closed, which is seen at the next timeout."""
    while stream.fileno() >= 0:
        try:
            data, sender = stream.recvfrom(512)
            stream.sendto(data[:2] + b"\x84\x00" + data[4:6] + bytes(6) + data[12:], sender)
        except OSError:
            continue


class Dnsperf(Batch):
    name = package = "dnsperf"
    needs = ("dnsperf",)
    amount = QUERIES * ROUNDS
    operation = "questions of two pairs of threads at a given rate, statistics each second"

    def prepare(self, place):
        place.write("questions", "".join(f"h{number}.field.test A\n" for number in range(QUERIES)))
        stream = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        stream.settimeout(0.5)
        stream.bind(("127.0.0.1", place.port))
        threading.Thread(target=answer, args=(stream,), daemon=True).start()
        place.closing.append(stream.close)

    def command(self, place):
        return ["dnsperf", "-s", "127.0.0.1", "-p", str(place.port), "-d", place.path("questions"), "-n", str(ROUNDS), "-T", "4",
                "-c", "4", "-q", "20", "-S", "1", "-Q", str(RATE)]

    def results(self, place, run):
        text = run.text()
        yield "sent: " + re.search(r"Queries sent:\s+(\d+)", text).group(1)
        yield "codes: " + " ".join(re.findall(r"([A-Z]+) \d+ \(", text))


PROGRAM = Dnsperf()
