/* SPDX-License-Identifier: Apache-2.0 */
#include "control/pace.h"

#include "base/syscall.h"
#include "control/private.h"

#include <stdatomic.h>
#include <time.h>

#define SHARE 0.25		     /* of one CPU */
#define SAVED_MOST (SECOND / 2)	     /* ns of CPU time */
#define DEBT_MOST (30 * MILLISECOND) /* so that one long piece of work is not waited for long */
#define PROCESS_ALLOWANCE (MILLISECOND / 2) /* what one takes to be watched and let go */
#define HIT_ALLOWANCE (1 * MILLISECOND)	    /* what one may take to be told, with its stack */

/* Hits that the kernel has counted: a program may write records, but not those counts. Those of
 * regions are counted by nobody else: where there are any, records are believed. */
static uint64_t real_hits(const struct control *control)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = control->target[i];

		for (unsigned j = 0; target && j < AREA_WATCHES; j++) {
			const struct slot *slot = &target->slot[j];

			if (slot->open && j < AREA_SLOTS)
				sum += coverage_count(&slot->coverage) + slot->ended_hits;
			else if (slot->armed && j >= AREA_SLOTS)
				return control->count[COUNT_HITS];
		}
	}
	return sum;
}

void pace_allow_process(struct control *control)
{
	control->pace.credit += PROCESS_ALLOWANCE;
}

static void allow_hits(struct control *control)
{
	struct pace *pace = &control->pace;
	uint64_t hits = real_hits(control);

	/* Slots that were closed take their counts with them. */
	if (hits > pace->hits)
		pace->credit += hits - pace->hits < SAVED_MOST / HIT_ALLOWANCE
					? (int64_t)((hits - pace->hits) * HIT_ALLOWANCE)
					: (int64_t)SAVED_MOST;
	pace->hits = hits;
}

static double share_of(const struct control *control)
{
	double share = SHARE;

	if (!control->options.lasting)
		share += control->options.budget / 100;
	return control->options.aggressive || share > 1 ? 1 : share;
}

static void earn(struct control *control, double share)
{
	struct pace *pace = &control->pace;
	uint64_t now = control_now(), used = control_clock(CLOCK_THREAD_CPUTIME_ID);

	if (pace->looked)
		pace->credit += (int64_t)((double)(now - pace->looked) * share) -
				(int64_t)(used - pace->used);
	else
		pace->credit = SAVED_MOST;
	if (pace->credit > (int64_t)SAVED_MOST)
		pace->credit = SAVED_MOST;
	pace->looked = now;
	pace->used = used;
}

void pace_keep(struct control *control)
{
	double share = share_of(control);
	struct pace *pace = &control->pace;
	uint64_t length;

	earn(control, share);
	if (pace->credit >= 0)
		return;
	if (control->options.lasting)
		allow_hits(control);
	if (pace->credit >= 0)
		return;
	if (pace->credit < -(int64_t)DEBT_MOST)
		pace->credit = -(int64_t)DEBT_MOST;
	count_one(control, COUNT_PUT_OFF);
	length = (uint64_t)((double)-pace->credit / share);
	if (!control->options.lasting)
		atomic_store(&control->area->unanswered, 1);
	/* A signal may end it early: the program's end must not be waited for. */
	raw_nanosleep(length + MILLISECOND);
	atomic_store(&control->area->unanswered, 0);
}
