# SPDX-License-Identifier: Apache-2.0
"""x264 with frame and look-ahead threads."""
import hashlib

from program import Batch


class X264(Batch):
    name = package = "x264"
    needs = ("x264",)
    operation = "frames of a made film, four frame threads, two of look-ahead"
    amount = 250

    def prepare(self, place):
        width, height = 320, 192
        with open(place.path("film.yuv"), "wb") as file:
            for frame in range(self.amount):
                line = bytes((x * 3 + frame * 5) % 256 for x in range(width * 2))
                file.write(b"".join(line[(y * frame) % width:][:width] for y in range(height)))
                file.write(bytes([128 + frame % 64]) * (width * height // 2))

    def command(self, place):
        return ["x264", "--input-res", "320x192", "--fps", "25", "--threads", "4", "--lookahead-threads", "2", "--preset",
                "medium", "--output", place.path("film.h264"), "--quiet", place.path("film.yuv")]

    def results(self, place, run):
        with open(place.path("film.h264"), "rb") as file:
            return ["film " + hashlib.sha256(file.read()).hexdigest()]


PROGRAM = X264()
