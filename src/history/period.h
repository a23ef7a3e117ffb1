/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that come by an address at equal intervals, as timers make them, and when two of them
 * will come one shortly after the other. To hold whoever comes, as long as a thread may be held,
 * meets another that comes five times a second once in a hundred times, and that is all the holds
 * there are in ten seconds. So where both are periodic, threads pass, and the first of the two is
 * held when they are about to coincide.
 *
 * Pure arithmetic. Times are CLOCK_MONOTONIC ns.
 */
#ifndef HISTORY_PERIOD_H
#define HISTORY_PERIOD_H

#include "history/weights.h"

#include <stdbool.h>
#include <stdint.h>

/* Of a thread that comes by an address again and again. */
struct period {
	uint64_t identity;
	uint64_t last; /* when it last came, or when its hold there ended: it sleeps from then on */
	uint64_t length;
	unsigned access;
	unsigned confirmed; /* times that it came so again */
};

struct periods {
	uint64_t address, seen;
	struct period thread[PERIODS];
};

struct visit {
	uint64_t identity, entry;
	uint64_t exit; /* `entry`, until its hold has ended */
	unsigned access;
};

/* From shortly before the first of two comes until shortly after the second is to. */
struct coincidence {
	uint64_t from, until; /* 0: none is to be expected */
	bool periodic;	      /* two that conflict are, whenever they coincide */
	bool conflicts;	      /* two do */
};

/* Told again when the hold has ended. */
void period_visit(struct periods *periods, const struct visit *visit);
/* The next one from `now` on. */
struct coincidence period_coincidence(const struct periods *periods, uint64_t now);

#endif
