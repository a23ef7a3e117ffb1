# SPDX-License-Identifier: Apache-2.0
"""What a seed's program is like: every dimension that the seed decides, before any code is written."""

import math

from draw import Draw

MILLISECOND = 1000000
SECOND = 1000 * MILLISECOND

# How often a thread of one side comes to the object. "hot": without a pause, or nearly so.
PERIODS = {"hot": 0, "1 ms": MILLISECOND, "10 ms": 10 * MILLISECOND, "100 ms": 100 * MILLISECOND,
           "1 s": SECOND, "10 s": 10 * SECOND}
PERIOD_WEIGHTS = (("hot", 26), ("1 ms", 20), ("10 ms", 20), ("100 ms", 18), ("1 s", 12), ("10 s", 4))

NOUNS = ("gauge", "cursor", "backlog", "quota", "session", "ledger", "status", "budget", "index",
         "route", "epoch", "balance", "window", "profile", "journal", "cache", "weight", "ticket")
FIELDS = ("level", "total", "state", "limit", "entry", "offset", "mark", "stamp", "label", "value")
# Taken for the pause between two accesses of a "hot" side: there is other code between them.
HOT_PAUSE = MILLISECOND // 10

VERBS = ("store", "apply", "refresh", "record", "touch", "merge", "settle", "publish", "bump")
READERS = ("load", "check", "inspect", "report", "fetch", "compare", "collect", "sum", "scan")

# Synchronisation of the race-free twins. "scalar" needs an object that one atomic access fits.
TWINS_C = (("mutex", 3), ("rwlock", 2), ("spinlock", 2), ("semaphore", 2), ("recursive mutex", 1),
           ("robust mutex", 1), ("trylock", 1), ("exchange lock", 2), ("compare-exchange lock", 2),
           ("ticket lock", 2), ("futex lock", 2), ("acquire-release turns", 3),
           ("sequentially consistent turns", 1), ("condition turns", 2), ("pipe token", 2),
           ("eventfd token", 1), ("barrier", 2), ("create and join", 2), ("read only", 1))
TWINS_CPP = (("std::mutex", 3), ("std::shared_mutex", 2), ("std::atomic turns", 3),
             ("std::atomic_flag lock", 2))
TWINS_SCALAR = (("relaxed builtins", 5), ("relaxed two steps", 3), ("atomic type", 4),
                ("relaxed in functions", 3), ("sync builtins", 2))


class Plan:
    """All choices. The twin of a racing program has the same ones, and its synchronisation."""

    def __init__(self, seed, free):
        self.seed, self.free = seed, free
        self.draw_build(Draw(seed, "build"))
        self.draw_object(Draw(seed, "object"))
        self.draw_threads(Draw(seed, "threads"))
        self.draw_time(Draw(seed, "time"))
        self.draw_names(Draw(seed, "names"))
        self.mistake = self.draw_mistake(Draw(seed, "mistake")) if not free else None
        self.twin = self.draw_twin(Draw(seed, "twin")) if free else None
        self.settle()

    def draw_build(self, draw):
        self.language = draw.weighted((("c", 3), ("c++", 2)))
        self.compiler = draw.weighted((("gcc", 3), ("clang", 2)))
        self.level = draw.weighted((("-O0", 2), ("-O1", 1), ("-O2", 4), ("-O3", 2), ("-Os", 1)))
        self.code = draw.weighted(((10, 20), (100, 25), (1000, 25), (10000, 20), (100000, 10)))
        self.library = draw.weighted((("none", 6), ("one side", 2), ("both sides", 1),
                                      ("dlopen", 1)))
        self.forks = draw.weighted(((0, 8), (1, 1), (2, 1)))

    def draw_object(self, draw):
        self.category = draw.weighted((("scalar", 12), ("bit-field", 3), ("wide", 4), ("bytes", 6)))
        self.place = draw.weighted((("global", 7), ("heap", 7), ("heap array", 2), ("stack", 3),
                                    ("thread-local", 2), ("file mapping", 2)))
        self.scalar = draw.pick(("unsigned char", "short", "int", "unsigned", "long",
                                 "unsigned long", "float", "double"))
        self.words = draw.pick((2, 3, 4, 8))
        self.padding = draw.pick((0, 0, 1, 3, 7, 24))

    def draw_threads(self, draw):
        self.threads = draw.weighted(((2, 5), (3, 4), (4, 5), (8, 4), (16, 3), (32, 2), (64, 2),
                                      (128, 1), (300, 1)))
        self.writers = min(draw.weighted(((1, 6), (2, 2), (4, 1))), self.threads - 1)
        self.others = min(draw.weighted(((1, 5), (2, 3), (4, 2), (32, 1))),
                          self.threads - self.writers)
        self.lifetime = draw.weighted((("steady", 14), ("short", 4), ("with its creator", 2)))
        self.life = draw.weighted(((1, 3), (3, 2), (50, 1)))  # rounds in a short life
        self.rest = draw.weighted((("sleeping", 5), ("busy", 3), ("woken", 2)))
        self.background = draw.weighted((("ticking", 4), ("busy", 2), ("pairs", 2), ("churn", 1)))

    def draw_time(self, draw):
        self.periods = [draw.weighted(PERIOD_WEIGHTS), draw.weighted(PERIOD_WEIGHTS)]
        self.jitter = draw.below(2)
        self.phase = draw.weighted((("steady", 7), ("bursts", 2), ("phase", 1)))
        self.burst = draw.pick((50, 200, 1000)) * MILLISECOND
        self.burst_percent = draw.pick((10, 25, 50))
        self.phase_begin = draw.pick((0, 100, 300, 500))
        self.background_period = draw.pick((2, 10, 50, 300)) * MILLISECOND
        self.fan = draw.pick((1, 2, 4, 8))

    def draw_names(self, draw):
        noun, self.field = draw.pick(NOUNS), draw.pick(FIELDS)
        self.name = f"{noun}_{draw.below(90) + 10}"
        self.type = f"{noun}_state"
        self.verbs = [draw.pick(VERBS), draw.pick(READERS)]
        self.depths = [draw.below(4), draw.below(4)]
        self.inline = [draw.chance(40), draw.chance(40)]
        self.method = [draw.chance(40), draw.chance(40)]

    def integer(self):
        return self.category == "scalar" and self.scalar not in ("float", "double")

    def draw_mistake(self, draw):
        choices = [("no lock", 8), ("one side locks", 3), ("different locks", 2),
                   ("unlocked too early", 1), ("write under read lock", 1)]
        if self.integer():
            choices.append(("one side atomic", 3))
        return draw.weighted(choices)

    def draw_twin(self, draw):
        choices = list(TWINS_C)
        if self.language == "c++":
            choices += TWINS_CPP
        if self.integer():
            choices += [(name, 2 * weight) for name, weight in TWINS_SCALAR]
        return draw.weighted(choices)

    def settle(self):
        """Choices that exclude each other."""
        if self.twin in ("barrier", "create and join"):
            self.lifetime = "steady"
            self.rest = "sleeping"
            self.writers = min(self.writers, 2)
            self.others = min(self.others, 2)
        if self.lifetime == "with its creator":
            self.writers = self.others = min(self.writers, self.others)
        if self.rest == "busy":
            self.writers, self.others = min(self.writers, 2), min(self.others, 2)
        # Many threads that tick all the time would be a busy program.
        self.background_period = max(self.background_period, self.threads * MILLISECOND // 2)
        self.participants = self.writers + self.others

    def side_threads(self, side):
        return (self.writers, self.others)[side]

    def slower(self):
        """The period of the side that comes less often."""
        return max(self.periods, key=PERIODS.get)

    def chance(self, seconds, share=0.01, longest=8 * MILLISECOND):
        """The chance of meeting the race in that time for a detector that knows both places from the
        start, holds each thread for `share` of its time and no longer than `longest` ns at once, and
        holds nobody anywhere else: while a thread of one side is held the other comes by chance.
        Periods without jitter can be foretold, which is not counted here."""
        active = {"bursts": self.burst_percent / 100,
                  "phase": 1 - self.phase_begin / 1000}.get(self.phase, 1)
        rates = [self.side_threads(side) * SECOND /
                 (PERIODS[self.periods[side]] or HOT_PAUSE) for side in (0, 1)]
        meetings = 0.0
        for side in (0, 1):
            held = min(self.side_threads(side) * seconds * share,
                       rates[side] * active * seconds * longest / SECOND)
            meetings += held * rates[1 - side]
        return 1 - math.exp(-meetings)

    def dimensions(self):
        """What the rates are told by."""
        return {"language": self.language, "compiler": self.compiler, "level": self.level,
                "code": str(self.code), "library": self.library, "forked": str(self.forks),
                "object": self.place, "category": self.category, "threads": str(self.threads),
                "lifetime": self.lifetime, "rest": self.rest, "background": self.background,
                "writer": self.periods[0], "other": self.periods[1], "slower": self.slower(),
                "phase": self.phase, "depth": str(max(self.depths)),
                "mistake": self.mistake or "", "synchronisation": self.twin or ""}
