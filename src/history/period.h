/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that access an address at equal intervals, as by timers, and when two of them will do so
 * shortly after each other. If every thread were held there as long as it may be, it would meet
 * another that comes five times a second once in a hundred times, and that is all the holds there
 * are in ten seconds. So where both threads are periodic, hits at other times are not held, and the
 * first of the two is held when they are about to coincide.
 *
 * Pure arithmetic. Times are CLOCK_MONOTONIC ns.
 */
#ifndef HISTORY_PERIOD_H
#define HISTORY_PERIOD_H

#include "history/weights.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of one thread's visits to an address. */
struct period {
	uint64_t identity;
	/* When it last came, or when its hold there ended: the thread sleeps its interval from then
	 * on. */
	uint64_t last;
	uint64_t length;
	unsigned access;
	unsigned confirmed; /* times that the interval was confirmed */
};

struct periods {
	uint64_t address, seen;
	struct period thread[PERIODS];
};

struct visit {
	uint64_t identity, entry;
	uint64_t exit; /* end of its hold; equal to `entry` until then */
	unsigned access;
};

/* A coincidence lasts from shortly before the first of two threads is expected until shortly after
 * the second is. */
struct coincidence {
	uint64_t from, until; /* 0: none is expected */
	bool periodic;	      /* two threads that conflict are periodic, whenever they coincide */
	bool conflicts;	      /* two threads conflict there */
};

/* Notes a visit; called again when its hold has ended. */
void period_visit(struct periods *periods, const struct visit *visit);
/* The next coincidence from `now` on. */
struct coincidence period_coincidence(const struct periods *periods, uint64_t now);

#endif
