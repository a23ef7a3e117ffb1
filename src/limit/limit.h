/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits: budgets that the threads of a program keep to by themselves. They live in the area, so
 * whoever maps it can set them; the controller that owns the area opens their events and is told
 * by its doorbell.
 */
#ifndef LIMIT_LIMIT_H
#define LIMIT_LIMIT_H

#include "record/area.h"

struct limit {
	unsigned counter; /* enum tl_counter */
	enum area_limit_each each;
	uint64_t budget;     /* units per second */
	uint64_t burst;	     /* units; LIMIT_DEFAULT: 50 ms of the budget */
	uint64_t period;     /* units between two looks; LIMIT_DEFAULT: chosen from the budget */
	const char *threads; /* pattern of names; NULL: all */
};

#define LIMIT_DEFAULT 0

/* Can such a limit be kept on this machine? 0; -EINVAL: a pause would itself count; or why no event
 * of the counter can be opened. */
int limit_possible(unsigned counter);

/* Index of the new limit, or -ENOSPC, -ENAMETOOLONG. */
int limit_add(struct area *area, const struct limit *limit);

/* Another budget, burst and period for a limit that is on; what is owed is forgiven. */
void limit_change(struct area *area, uint32_t index, const struct limit *limit);
void limit_stop(struct area *area, uint32_t index);

/* The next limit from `index` on that is on; AREA_LIMITS when there is none. */
uint32_t limit_next(const struct area *area, uint32_t index);

#endif
