#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many machine-hours a fleet needs to find a race of a given frequency (docs/FLEET.md).

usage: bench/fleet.py BUILD OUTPUT_FOLDER      writes fleet.md and fleet.svg
       bench/fleet.py --measure BUILD [known|rare|suite|server]…   measures anew what it is compared with
       bench/fleet.py --solve FREQUENCY [NAME=VALUE…]   hours for one race, e.g. cpu=4

Two ways to the same figure: the closed formula, and a simulation that knows nothing of the formula
but plays the controller's rounds one after another. They must agree, and the formula must agree with
what was measured (docs/benchmarks/fleet.json), or this ends with status 1."""
import json
import math
import os
import pathlib
import random
import sys

# What the tool does, at default options; times in seconds. docs/FLEET.md says where each is from.
DEFAULTS = {
    "cpu": 1.0,        # CPUs that the program uses
    "budget": 0.01,    # share of them that may be spent
    "base": 2.0e-3,    # spent each second without any watch
    "price": 0.5e-3,   # of one round: a watch with its hits
    "credit": 0.5,     # to be spent at the start of each run
    "window": 0.1,     # how long an address or an instruction stays watched
    "stall": 1e-3,     # how long a thread is held
    "stalls": 8.0,     # held hits of one watch
    "sites": 2000.0,   # memory instructions in use, of which one is watched each round
    "objects": 1.0,    # objects that go through the racing instruction, of which one races
}
FREQUENCIES = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0]
SIMULATED = [frequency for frequency in FREQUENCIES if frequency >= 1]  # rarer ones take too long
# bench/fleet_race: 256 functions of four accesses; the CPUs it uses.
MEASURED = {**DEFAULTS, "sites": 1024.0, "cpu": 0.35}
MEASUREMENTS = pathlib.Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "fleet.json"
START = 3.0  # seconds after which the credit of the start is used up


def round_probability(frequency, model):
    """That one round, at the racing place, finds the race: some thread is held there and another comes
    by meanwhile. `frequency` is that of each of the two accesses, per second."""
    meets = 1 - math.exp(-frequency * model["stall"])   # the other side comes during one hold
    expected = 2 * frequency * model["window"]          # accesses of either side while it is watched
    stalls = int(model["stalls"])
    missed, left, term = 0.0, 1.0, math.exp(-expected)  # Poisson: `term` is that of `number`
    for number in range(stalls):
        missed += term * (1 - meets) ** number
        left -= term
        term *= expected / (number + 1)
    return 1 - missed - left * (1 - meets) ** stalls


def rounds_per_second(model):
    """What the budget leaves for, and the time: three slots, one round each at a time."""
    affordable = (model["budget"] * model["cpu"] - model["base"]) / model["price"]
    return max(0.0, min(affordable, 3 / model["window"]))


def chosen(model):
    """The chance that a round is at the racing place: either of the two instructions leads to it."""
    return 2 / (model["sites"] * model["objects"])


def hours(frequency, model, probability=0.5):
    """Machine-hours until the race is found with that probability: finding is a Poisson process, and
    machines are independent, so ten machines for an hour are one machine for ten."""
    rate = rounds_per_second(model) * chosen(model) * round_probability(frequency, model)
    return -math.log(1 - probability) / rate / 3600


def found_at_start(frequency, model):
    """The chance that a run finds the race from the credit it starts with."""
    rounds = model["credit"] / model["price"]
    return 1 - math.exp(-rounds * chosen(model) * round_probability(frequency, model))


def play_round(frequency, model, chance):
    """One round at the racing place, event by event; True when the race is found."""
    now, held = 0.0, 0
    while held < model["stalls"]:
        now += chance.expovariate(2 * frequency)         # either side comes by
        if now > model["window"]:
            return False
        held += 1
        if chance.expovariate(frequency) < model["stall"]:   # the other one, during the hold
            return True
        now += model["stall"]
    return False


def simulate(frequency, model, runs, chance):
    """Median machine-hours over `runs` races. Rounds elsewhere are skipped in one step: their number
    until this place is drawn is geometric."""
    seconds = []
    for _ in range(runs):
        rounds = 0
        while True:
            rounds += 1 + int(math.log(1 - chance.random()) / math.log(1 - chosen(model)))
            if play_round(frequency, model, chance):
                break
        seconds.append(rounds / rounds_per_second(model))
    return sorted(seconds)[runs // 2] / 3600


def binomial_tail(found, runs, probability):
    """How likely a result this far or farther from what was expected is, on the side where it is."""
    terms = [math.comb(runs, k) * probability ** k * (1 - probability) ** (runs - k) for k in range(runs + 1)]
    return min(sum(terms[:found + 1]), sum(terms[found:]))


def comparison(data):
    """[(frequency, runs, found within START, expected share, probability of that result)]"""
    rows = []
    for frequency, runs in {**data["known"], **data["rare"]}.items():
        found = sum(value is not None and value <= START for value in runs["times"])
        expected = found_at_start(float(frequency), MEASURED)
        rows.append((float(frequency), len(runs["times"]), found, expected,
                     binomial_tail(found, len(runs["times"]), expected)))
    return sorted(rows, reverse=True)


def write_measured(out, data):
    suite, server = data["suite"], data["server"]
    found = sorted(value for value in suite["times"] if value is not None)
    server_found = sorted(value for value in server["times"] if value is not None)
    out.write("\nMeasured at default options (docs/benchmarks/fleet.json; `python3 bench/fleet.py --measure build` "
              "measures anew):\n\n| program | runs | found | median time |\n|---|---|---|---|\n")
    out.write(f"| {suite['programs']} racing programs of tests/behave/race, {suite['limit']} s each | "
              f"{len(suite['times'])} | {len(found)} | {found[len(found) // 2]:.1f} s |\n")
    out.write(f"| memcached {server['version']} under load, {server['limit']} s each | {len(server['times'])} | "
              f"{len(server_found)} | {server_found[len(server_found) // 2]:.1f} s |\n")
    out.write(f"\nOf the race of known frequency in `bench/fleet_race` (1,024 memory instructions in use, 0.35 of a "
              f"CPU), within the first {START:g} s of a run:\n\n| each access happens | runs | found | "
              "the formula expects |\n|---|---|---|---|\n")
    for frequency, runs, count, expected, _ in comparison(data):
        out.write(f"| {frequency:g} times a second | {runs} | {count} | {runs * expected:.1f} |\n")


def write_table(path, model, simulated, data):
    with open(path, "w", encoding="utf-8") as out:
        out.write("## Machine-hours to find a race\n\nReproduce: `make bench BENCHES=fleet`. The model "
                  "and its parameters are in docs/FLEET.md.\n\n| each access happens | 50 % | 95 % | "
                  "simulated, 50 % |\n|---|---|---|---|\n")
        for frequency in FREQUENCIES:
            out.write(f"| {frequency:g} times a second | {hours(frequency, model):.3g} h | "
                      f"{hours(frequency, model, 0.95):.3g} h | "
                      + (f"{simulated[frequency]:.3g} h" if frequency in simulated else "") + " |\n")
        out.write("\n![machine-hours](benchmarks/fleet.svg)\n")
        write_measured(out, data)


def main():
    if len(sys.argv) >= 3 and sys.argv[1] == "--solve":
        model = {**DEFAULTS, **{word.split("=")[0]: float(word.split("=")[1]) for word in sys.argv[3:]}}
        if set(model) != set(DEFAULTS):
            sys.exit(f"the parameters are {', '.join(DEFAULTS)}")
        print(f"50 %: {hours(float(sys.argv[2]), model):.3g} machine-hours; "
              f"95 %: {hours(float(sys.argv[2]), model, 0.95):.3g}")
        return 0
    if len(sys.argv) >= 3 and sys.argv[1] == "--measure":
        import fleet_measure  # pylint: disable=import-outside-toplevel
        fleet_measure.measure(pathlib.Path(sys.argv[2]).resolve(), MEASUREMENTS, sys.argv[3:])
        return 0
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    import plot  # pylint: disable=import-outside-toplevel
    folder, chance = sys.argv[2], random.Random(1)
    simulated = {frequency: simulate(frequency, DEFAULTS, 400, chance) for frequency in SIMULATED}
    data = json.loads(MEASUREMENTS.read_text(encoding="utf-8"))
    write_table(os.path.join(folder, "fleet.md"), DEFAULTS, simulated, data)
    lines = {"formula, 50 %": [(f, hours(f, DEFAULTS)) for f in FREQUENCIES],
             "formula, 95 %": [(f, hours(f, DEFAULTS, 0.95)) for f in FREQUENCIES],
             "simulated, 50 %": [(f, simulated[f]) for f in SIMULATED]}
    plot.plot(os.path.join(folder, "fleet.svg"), "Machine-hours to find a race",
              "times a second that each access happens", "machine-hours", lines, log_x=True, log_y=True)
    off = {f: simulated[f] / hours(f, DEFAULTS) for f in SIMULATED}
    print("simulated / formula:", {f: round(ratio, 2) for f, ratio in off.items()})
    unlikely = [row for row in comparison(data) if row[4] < 0.005]
    for frequency, runs, found, expected, _ in unlikely:
        print(f"measured at {frequency:g}/s: {found} of {runs}, where the formula expects {runs * expected:.1f}")
    return int(bool(unlikely) or any(not 0.75 < ratio < 1.33 for ratio in off.values()))


if __name__ == "__main__":
    sys.exit(main())
