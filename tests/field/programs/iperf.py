# SPDX-License-Identifier: Apache-2.0
"""iperf's client with two flows and reports twice a second, against a server of its own."""
import re

from program import Batch

BYTES, LENGTH, FLOWS = 24_000_000, 1200, 2


class Iperf(Batch):
    name = package = "iperf"
    needs = ("iperf",)
    amount = FLOWS * BYTES // LENGTH
    operation = "datagrams of two flows at a given rate, reports twice a second"

    def prepare(self, place):
        place.helper(["iperf", "-s", "-u", "-p", place.port])

    def command(self, place):
        return ["iperf", "-c", "127.0.0.1", "-u", "-p", str(place.port), "-b", "32m", "-l", str(LENGTH), "-n", str(BYTES),
                "-P", str(FLOWS), "-i", "0.5"]

    def results(self, place, run):
        sent = re.findall(r"Sent (\d+) datagrams", run.text())
        yield f"flows that told what they sent: {len(sent)}"


PROGRAM = Iperf()
