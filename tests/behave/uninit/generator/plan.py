# SPDX-License-Identifier: Apache-2.0
"""What a seed's program is like: every dimension that the seed decides, before any code is written."""

from draw import Draw

OBJECTS = (("malloc", 4), ("realloc", 2), ("new", 2), ("frame", 4))
SHAPES = (("member", 4), ("element", 3), ("bit-field", 1))
USES = (("branch", 4), ("loop bound", 1), ("index", 2), ("address", 2), ("argument", 2),
        ("memcpy", 2), ("assignment", 2), ("copy loop", 2), ("printed", 1))
# In how many of a program's rounds the value is missing: all, or one of them.
TIMES = (("once", 5), ("hot", 3), ("rare", 2))
ROUNDS = {"once": 1, "hot": 200, "rare": 24}
MEMBER_TYPES = ("char", "unsigned char", "short", "int", "unsigned", "long", "long long")
ELEMENT_TYPES = ("unsigned char", "short", "int", "long")


class Plan:
    """All choices. The correct twin has the same ones, and leaves nothing unwritten."""

    def __init__(self, seed):
        self.seed = seed
        self.draw_build(Draw(seed, "build"))
        self.draw_object(Draw(seed, "object"))
        self.draw_time(Draw(seed, "time"))

    def draw_build(self, draw):
        self.compiler = draw.weighted((("gcc", 3), ("clang", 2)))
        self.level = draw.weighted((("-O0", 3), ("-O1", 1), ("-O2", 4), ("-O3", 1), ("-Os", 1)))
        self.apart = draw.chance(50)  # who uses the value is compiled by itself
        self.through = draw.between(0, 2)  # functions between who makes the object and who uses it

    def draw_object(self, draw):
        self.object = draw.weighted(OBJECTS)
        self.shape = draw.weighted(SHAPES)
        if self.object == "realloc":
            self.shape = "element"
        self.language = "c++" if self.object == "new" else "c"
        self.count = {"member": draw.between(2, 12), "element": draw.between(3, 40),
                      "bit-field": draw.between(3, 6)}[self.shape]
        if self.object == "realloc":
            self.count += self.count % 2
        self.types = [draw.pick(MEMBER_TYPES) for _ in range(self.count)]
        self.widths = [draw.between(2, 9) for _ in range(self.count)]
        self.element = draw.pick(ELEMENT_TYPES)
        # What grew is what is missing.
        self.missing = draw.between(self.count // 2 if self.object == "realloc" else 0, self.count - 1)
        self.use = draw.weighted(USES)
        self.target = draw.pick(("frame", "heap", "static"))  # of a copy

    def draw_time(self, draw):
        self.times = draw.weighted(TIMES)
        self.rounds = ROUNDS[self.times]
        self.rare_round = draw.below(self.rounds)
        self.filler = draw.pick((0, 4, 16))

    def dimensions(self):
        return {"compiler": self.compiler, "level": self.level, "object": self.object,
                "shape": self.shape, "use": self.use, "times": self.times,
                "size": "small" if self.count <= 6 else "large",
                "target": self.target if self.use in ("memcpy", "assignment", "copy loop") else "",
                "apart": "apart" if self.apart else "together", "filler": self.filler}
