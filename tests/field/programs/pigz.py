# SPDX-License-Identifier: Apache-2.0
"""pigz with four threads."""
import hashlib

from program import Batch


class Pigz(Batch):
    name = package = "pigz"
    needs = ("pigz",)
    operation = "MB compressed by four threads"
    amount = 48
    piece = b" ".join(hashlib.sha256(str(number).encode()).hexdigest()[:3 + number % 9].encode() for number in range(20000))

    def prepare(self, place):
        with open(place.path("data"), "wb") as file:
            file.write((self.piece * (self.amount * 1000000 // len(self.piece) + 1))[:self.amount * 1000000])

    def command(self, place):
        return ["pigz", "-p", "4", "-n", "-k", place.path("data")]

    def results(self, place, run):
        with open(place.path("data.gz"), "rb") as file:
            return ["compressed " + hashlib.sha256(file.read()).hexdigest()]


PROGRAM = Pigz()
