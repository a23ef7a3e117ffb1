# SPDX-License-Identifier: Apache-2.0
"""Random choices that come out the same on every machine and with every Python."""

MASK = (1 << 64) - 1


class Draw:
    """SplitMix64 (Steele, Lea and Flood 2014). `stream` gives independent sequences of one seed, so
    that what one part of a program draws does not depend on how much another part has drawn."""

    def __init__(self, seed, stream):
        self.state = seed & MASK
        for character in stream.encode():
            self.state = (self.state * 0x100000001B3 ^ character) & MASK
            self.number()

    def number(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        word = self.state
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
        word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
        return word ^ word >> 31

    def below(self, bound):
        return self.number() % bound

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def pick(self, items):
        return items[self.below(len(items))]

    def chance(self, percent):
        return self.below(100) < percent

    def weighted(self, pairs):
        """One of the (item, weight) pairs."""
        at = self.below(sum(weight for _, weight in pairs))
        for item, weight in pairs:
            at -= weight
            if at < 0:
                return item
        raise AssertionError("the weights do not add up")
