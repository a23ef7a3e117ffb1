/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that come by an address at equal intervals, as timers make them, and when two of them
 * will come one shortly after the other. To hold whoever comes, as long as a thread may be held,
 * meets another that comes five times a second once in a hundred times, and that is all the holds
 * there are in ten seconds. So where both are regular, threads pass, and the first of the two is
 * held when they are about to meet.
 */
#ifndef CONTROL_RHYTHM_H
#define CONTROL_RHYTHM_H

#include <stdbool.h>
#include <stdint.h>

#define BEATS 8
#define HOLD_LONGEST 8000000u /* ns; no meeting takes longer either */

/* A thread that comes by an address again and again. Times are CLOCK_MONOTONIC ns. */
struct beat {
	uint64_t identity;
	uint64_t last; /* when it last came, or when its hold there ended: it sleeps from then on */
	uint64_t interval;
	unsigned access;
	unsigned confirmed; /* times that it came so again */
};

struct rhythm {
	uint64_t address, seen;
	struct beat beat[BEATS];
};

struct visit {
	uint64_t identity, entry;
	uint64_t exit; /* `entry`, until its hold has ended */
	unsigned access;
};

/* From shortly before the first of two comes until shortly after the second is to. */
struct meeting {
	uint64_t from, until; /* 0: none is to be expected */
	bool rhythmic;	      /* two that conflict are regular, whenever they meet */
	bool shared;	      /* two conflict */
};

/* Told again when the hold has ended. */
void rhythm_visit(struct rhythm *rhythm, const struct visit *visit);
/* The next one from `now` on. */
struct meeting rhythm_meeting(const struct rhythm *rhythm, uint64_t now);

#endif
