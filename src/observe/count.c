/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/count.h"

#include "base/glob.h"

#include <stdatomic.h>

/* Who called a function of the C library is told even where only places are counted: what lies
 * below printf()'s frames, the largest of these, is within so many bytes. */
#define STACK_OF_LIBRARY 2560u

static struct filter *filter_of(const struct target *target)
{
	return &target->program->area->filter;
}

/* Values from before the hit are not known here: conditions are asked later. */
static bool may_count(const struct filter *filter)
{
	return filter->on && filter->count_only && !filter->condition.count;
}

unsigned observed_stack(const struct target *target)
{
	const struct filter *filter = filter_of(target);

	return filter->on && filter->count_only && !filter->callers ? STACK_OF_LIBRARY : AREA_STACK;
}

static enum filter_refusal refusal(const struct filter *filter, const struct filter_place *place,
				   const struct area_hit *hit)
{
	if (hit->entry_time < filter->not_before)
		return FILTER_EARLY;
	if (place && atomic_load(&place->key) & FILTER_UNWANTED)
		return FILTER_KIND;
	if (filter->thread[0] && hit->thread[0] && !glob_match(filter->thread, hit->thread))
		return FILTER_THREAD;
	return FILTER_REFUSALS;
}

bool observed_count(struct target *target, struct area_hit *hit)
{
	struct filter_process *process = &target->shared->filter;
	struct filter *filter = filter_of(target);
	struct filter_place *place;
	enum filter_refusal refused;

	if (!may_count(filter))
		return false;
	place = filter_place_find(process, hit->registers.pc, hit->slot);
	refused = refusal(filter, place, hit);
	hit->flags |= AREA_HIT_JUDGED;
	/* For --top one hit of each place is told in full from time to time. */
	if (refused == FILTER_REFUSALS &&
	    (!place || (filter->refresh && !atomic_exchange(&place->sent, 1))))
		return false;
	atomic_fetch_add(refused == FILTER_REFUSALS ? &place->count : &process->refused[refused],
			 1);
	count_one(target->program, COUNT_HITS);
	return true;
}
