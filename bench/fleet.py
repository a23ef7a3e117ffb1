#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many machine-hours a fleet needs to find a race of a given frequency (docs/FLEET.md).

usage: bench/fleet.py BUILD OUTPUT_FOLDER      writes fleet.md and fleet.svg
       bench/fleet.py --solve FREQUENCY [NAME=VALUE…]   hours for one race, e.g. stall=1e-3

Two ways to the same figure: the closed formula, and a simulation that knows nothing of the formula
but plays the controller's rounds one after another. They must agree, or this ends with status 1."""
import math
import os
import random
import sys

# What the tool does, at default options; all times in seconds. docs/FLEET.md says where each is from.
DEFAULTS = {
    "slots": 3.0,      # hardware slots in use: four, one left for a debugger
    "round": 0.2,      # how long an address stays armed
    "stall": 400e-6,   # how long a thread is held at its access
    "stalls": 4.0,     # held hits of one armed address
    "duty": 1.0,       # share of the time in which the budget lets addresses be armed
    "sites": 2000.0,   # instructions in use that the samplers choose from
    "objects": 1.0,    # objects that go through the racing instruction, of which one races
}
FREQUENCIES = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0]
SIMULATED = [frequency for frequency in FREQUENCIES if frequency >= 1]  # rarer ones take too long


def round_probability(frequency, model):
    """That one round, armed at the racing address, finds the race: some thread is held there and
    another comes by meanwhile. `frequency` is that of each of the two accesses, per second."""
    meets = 1 - math.exp(-frequency * model["stall"])   # the other side comes during one hold
    expected = 2 * frequency * model["round"]           # accesses of either side while it is armed
    stalls = int(model["stalls"])
    missed, left, term = 0.0, 1.0, math.exp(-expected)  # Poisson: `term` is that of `number`
    for number in range(stalls):
        missed += term * (1 - meets) ** number
        left -= term
        term *= expected / (number + 1)
    return 1 - missed - left * (1 - meets) ** stalls


def chosen_per_second(model):
    """How often the samplers arm this race's address."""
    return 2 * model["duty"] * model["slots"] / (model["sites"] * model["objects"] * model["round"])


def hours(frequency, model, probability=0.5):
    """Machine-hours until the race is found with that probability: finding is a Poisson process, and
    machines are independent, so ten machines for an hour are one machine for ten."""
    rate = chosen_per_second(model) * round_probability(frequency, model)
    return -math.log(1 - probability) / rate / 3600


def play_round(frequency, model, chance):
    """One round at the racing address, event by event; True when the race is found."""
    now, held = 0.0, 0
    while held < model["stalls"]:
        now += chance.expovariate(2 * frequency)         # either side comes by
        if now > model["round"]:
            return False
        held += 1
        if chance.expovariate(frequency) < model["stall"]:   # the other one, during the hold
            return True
        now += model["stall"]
    return False


def simulate(frequency, model, runs, chance):
    """Median machine-hours over `runs` races. Rounds at other addresses are skipped in one step: their
    number until this address is drawn is geometric."""
    drawn = min(1.0, 2 / (model["sites"] * model["objects"]))
    seconds = []
    for _ in range(runs):
        rounds = 0
        while True:
            rounds += 1 + int(math.log(1 - chance.random()) / math.log(1 - drawn))
            if play_round(frequency, model, chance):
                break
        seconds.append(rounds * model["round"] / model["slots"] / model["duty"])
    return sorted(seconds)[runs // 2] / 3600


def write_table(path, model, simulated):
    with open(path, "w", encoding="utf-8") as out:
        out.write("## Machine-hours to find a race\n\nReproduce: `make bench BENCHES=fleet`. The model "
                  "and its parameters are in docs/FLEET.md.\n\n| each access happens | 50 % | 95 % | "
                  "simulated, 50 % |\n|---|---|---|---|\n")
        for frequency in FREQUENCIES:
            out.write(f"| {frequency:g} times a second | {hours(frequency, model):.3g} h | "
                      f"{hours(frequency, model, 0.95):.3g} h | "
                      + (f"{simulated[frequency]:.3g} h" if frequency in simulated else "") + " |\n")
        out.write("\n![machine-hours](benchmarks/fleet.svg)\n")


def main():
    if len(sys.argv) >= 3 and sys.argv[1] == "--solve":
        model = {**DEFAULTS, **{word.split("=")[0]: float(word.split("=")[1]) for word in sys.argv[3:]}}
        if set(model) != set(DEFAULTS):
            sys.exit(f"the parameters are {', '.join(DEFAULTS)}")
        print(f"50 %: {hours(float(sys.argv[2]), model):.3g} machine-hours; "
              f"95 %: {hours(float(sys.argv[2]), model, 0.95):.3g}")
        return 0
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    import plot  # pylint: disable=import-outside-toplevel
    folder, chance = sys.argv[2], random.Random(1)
    simulated = {frequency: simulate(frequency, DEFAULTS, 400, chance) for frequency in SIMULATED}
    write_table(os.path.join(folder, "fleet.md"), DEFAULTS, simulated)
    lines = {"formula, 50 %": [(f, hours(f, DEFAULTS)) for f in FREQUENCIES],
             "formula, 95 %": [(f, hours(f, DEFAULTS, 0.95)) for f in FREQUENCIES],
             "simulated, 50 %": [(f, simulated[f]) for f in SIMULATED]}
    plot.plot(os.path.join(folder, "fleet.svg"), "Machine-hours to find a race",
              "times a second that each access happens", "machine-hours", lines, log_x=True, log_y=True)
    off = {f: simulated[f] / hours(f, DEFAULTS) for f in SIMULATED}
    print("simulated / formula:", {f: round(ratio, 2) for f, ratio in off.items()})
    return int(any(not 0.75 < ratio < 1.33 for ratio in off.values()))


if __name__ == "__main__":
    sys.exit(main())
