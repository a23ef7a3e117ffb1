/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the controller answers. The budget (budget.c) bounds what the controller does of its own
 * accord; this bounds what the program can make it do, by announcing processes, giving notices,
 * writing records and ringing, and it runs at a priority above the program's.
 *
 * It may use a quarter of one CPU, and the user's budget besides, with 0.4 s saved up; and what is
 * as dear to the program as to us: processes that there really were, by their ends, and, under
 * lasting watches, hits that the kernel has counted. When that is used up it
 * sleeps, and nothing wakes it. Under lasting watches the program's processes wait for it
 * meanwhile, so all of them are followed, but later; else they go on at once, and are watched when
 * they are come to.
 */
#ifndef CONTROL_PACE_H
#define CONTROL_PACE_H

#include <stdint.h>

struct control;

struct pace {
	int64_t credit;	 /* ns of CPU time */
	uint64_t looked; /* CLOCK_MONOTONIC ns; 0: not begun */
	uint64_t used;	 /* CPU time, at that time */
	uint64_t hits;	 /* real ones, as last counted */
};

/* One that was there has ended. */
void pace_allow_process(struct control *control);

/* Between two rounds of work: sleeps as long as it must. */
void pace_keep(struct control *control);

#endif
