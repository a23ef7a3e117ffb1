# SPDX-License-Identifier: Apache-2.0
"""Clients of our own, which know how long each operation took."""
import contextlib
import threading
import time

MILLISECONDS = 1000


def percentile_99(durations):
    """In milliseconds, of durations in seconds; None without any."""
    ordered = sorted(durations)
    return MILLISECONDS * ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)] if ordered else None


def in_parallel(outcome, seconds, clients, ask):
    """Until the time is over each client calls ask(client, number), whose answer must be true. Adds the operations, their
    99th percentile, and a check that every answer was right."""
    end, durations, ended = time.monotonic() + seconds, [], []

    def work(which):
        number = 0
        while time.monotonic() < end:
            begun = time.monotonic()
            if not ask(which, number):
                outcome.checks.add("a client had a wrong answer")
            durations.append(time.monotonic() - begun)
            number += 1
        ended.append(which)

    workers = [threading.Thread(target=work, args=(which,)) for which in range(clients)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    outcome.operations += len(durations)
    outcome.p99 = percentile_99(durations)
    outcome.checks.add(f"clients that ended well: {len(ended)}")


@contextlib.contextmanager
def probing(outcome, ask, pause=0.005):
    """One more client beside the load of another program that does not tell: what it asked is no operation."""
    over, durations = threading.Event(), []

    def work():
        while not over.wait(pause):
            begun = time.monotonic()
            if ask():
                durations.append(time.monotonic() - begun)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join()
        slowest = percentile_99(durations)
        outcome.p99 = max(slowest or 0, outcome.p99 or 0) or None
