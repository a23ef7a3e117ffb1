# SPDX-License-Identifier: Apache-2.0
"""What name servers have in common: the questions of dnsperf, and how it is asked whether one answers."""
import re
import socket

from latency import probing
from program import Server, client

QUESTION = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x05field\x04test\x00\x00\x01\x00\x01"
ZONE = "$TTL 60\n@ SOA ns hostmaster 1 3600 600 86400 60\n@ NS ns\nns A 127.0.0.1\na A 127.0.0.7\n" + "".join(
    f"h{number} A 127.0.1.{number % 250}\n" for number in range(500))


class NameServer(Server):
    """Answers for the zone field.test, in which the names h0 to h499 are."""

    packages = ("dnsperf",)
    clients = 8
    rate = 6000

    def write_questions(self, place):
        place.write("questions", "".join(f"h{number}.field.test A\n" for number in range(500))
                    + "".join(f"missing{number}.field.test AAAA\n" for number in range(100)))

    def answers(self, place):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
            stream.settimeout(0.3)
            try:
                stream.sendto(QUESTION, ("127.0.0.1", place.port))
                return stream.recv(512)[3] & 15 == 0
            except OSError:
                return False

    def load(self, place, outcome, seconds):
        """At a given rate, first by UDP, then with a third of it by TCP."""
        self.write_questions(place)
        with probing(outcome, lambda: self.answers(place)):
            self.ask(place, outcome, seconds)

    def ask(self, place, outcome, seconds):
        for extra, rate in (((), self.rate), (("-m", "tcp"), self.rate / 3)):
            text = client(["dnsperf", "-s", "127.0.0.1", "-p", place.port, "-d", place.path("questions"), "-c",
                           self.clients, "-l", max(2, round(seconds / 2)), "-Q", round(rate), *extra], limit=seconds + 60)
            outcome.operations += int(re.search(r"Queries completed:\s+(\d+)", text).group(1))
            codes = sorted(re.findall(r"([A-Z]+) \d+ \(", text))
            outcome.checks.add("response codes " + " ".join(codes))
