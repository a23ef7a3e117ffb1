/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the controller answers. The budget (cost/budget.h) bounds what the controller does of
 * its own accord; this bounds what the program can make it do, by announcing processes, giving
 * notices, writing records and ringing the doorbell, since the controller runs at a higher priority
 * than the program.
 *
 * It may use a quarter of one CPU in addition to the user's budget, with 0.5 s saved up. It also
 * earns an allowance for what costs the program as much as the controller: for each process that
 * really existed, when it ends, and under lasting watches for each hit that the kernel has counted.
 * When all of that is used up the controller sleeps, and nothing wakes it. Under lasting watches
 * the program's processes wait for it meanwhile, so all of them are followed, but later; otherwise
 * they go on at once and are watched once the controller gets to them.
 *
 * Pure arithmetic; the controller's loop sleeps between two rounds.
 */
#ifndef COST_PACE_H
#define COST_PACE_H

#include "cost/bucket.h"

struct pace {
	struct bucket bucket;
	double share;	 /* of one CPU that it may use */
	uint64_t looked; /* CLOCK_MONOTONIC ns of the last look; 0: no look yet */
	uint64_t used;	 /* CPU time used until the last look */
	uint64_t hits;	 /* hits that the kernel had counted by the last call */
};

/* `percent` is the user's budget, which is added; 100 or more allows a whole CPU. */
void pace_begin(struct pace *pace, double percent);

/* Earns the allowance for a process that has ended and really ran: a claimed entry in the area
 * alone earns nothing. */
void pace_allow_process(struct pace *pace);
/* Earns the allowance for hits; `hits` is how many the kernel has counted since the beginning. */
void pace_allow_hits(struct pace *pace, uint64_t hits);

/* Called between two rounds of work, when the thread has used `used` ns of CPU time so far.
 * True: that is more than it may, and the thread has to sleep for pace_pause(). */
bool pace_is_over(struct pace *pace, uint64_t now, uint64_t used);
/* ns that the thread has to sleep. Debt beyond a bound is forgiven. */
uint64_t pace_pause(struct pace *pace);

#endif
