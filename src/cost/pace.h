/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the controller answers. The budget (cost/budget.h) bounds what the controller does of
 * its own accord; this bounds what the program can make it do, by announcing processes, giving
 * notices, writing records and ringing, and it runs at a priority above the program's.
 *
 * It may use a quarter of one CPU, and the user's budget besides, with 0.5 s saved up; and what is
 * as dear to the program as to us: processes that there really were, by their ends, and, under
 * lasting watches, hits that the kernel has counted. When that is used up it sleeps, and nothing
 * wakes it. Under lasting watches the program's processes wait for it meanwhile, so all of them are
 * followed, but later; else they go on at once, and are watched when they are come to.
 *
 * Pure arithmetic; the controller's loop sleeps between two rounds.
 */
#ifndef COST_PACE_H
#define COST_PACE_H

#include "cost/bucket.h"

struct pace {
	struct bucket bucket;
	double share;	 /* of one CPU that it may use */
	uint64_t looked; /* CLOCK_MONOTONIC ns; 0: not begun */
	uint64_t used;	 /* CPU time, at that time */
	uint64_t hits;	 /* real ones, as last counted */
};

/* `percent`: what the user's budget adds; 100 or more: a whole CPU. */
void pace_begin(struct pace *pace, double percent);

/* A process that really ran, not only an entry in the area, has ended: the allowance for it is
 * earned. */
void pace_allow_process(struct pace *pace);
/* `hits`: that the kernel has counted since the beginning. */
void pace_allow_hits(struct pace *pace, uint64_t hits);

/* Between two rounds of work, when the thread has used `used` ns of CPU time so far. True: more
 * than it may, and it is to sleep for pace_pause(). */
bool pace_is_over(struct pace *pace, uint64_t now, uint64_t used);
/* ns to sleep then. Debt beyond a bound is forgiven. */
uint64_t pace_pause(struct pace *pace);

#endif
