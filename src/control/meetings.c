/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads are regular, others pass, and the first of two that are about to meet is held. */
#include "control/private.h"

#include <stdatomic.h>

#define WINDOW (2 * SECOND)

/* NULL: nothing is known of the address. */
static struct rhythm *known(struct target *target, uint64_t address)
{
	for (unsigned i = 0; i < RHYTHMS; i++)
		if (target->rhythm[i].address == address)
			return &target->rhythm[i];
	return NULL;
}

static struct rhythm *find(struct target *target, uint64_t address)
{
	struct rhythm *found = known(target, address);

	if (found)
		return found;
	found = &target->rhythm[0];
	for (unsigned i = 1; i < RHYTHMS; i++)
		if (target->rhythm[i].seen < found->seen)
			found = &target->rhythm[i];
	*found = (struct rhythm){.address = address};
	return found;
}

/* The end is what makes the beginning count: it is written last, and zero meanwhile. Pairs with
 * meets() of agent/handler.c. */
static void plan(struct target *target, const struct slot *slot, const struct rhythm *rhythm)
{
	struct area_slot *shared = &target->shared->slot[slot->index];
	uint64_t now = control_now(), planned = atomic_load(&shared->meeting_until);
	struct meeting meeting = rhythm_meeting(rhythm, now);

	/* Who was to meet may still be on the way. */
	if (now < planned && now >= atomic_load(&shared->meeting_from) && meeting.rhythmic)
		return;
	atomic_store(&shared->meeting_until, 0);
	atomic_store(&shared->meeting_from, meeting.from);
	atomic_store(&shared->meeting_until, meeting.until);
	atomic_store(&shared->rhythmic, meeting.rhythmic);
	if (meeting.until > planned)
		count_one(target->control, COUNT_MEETINGS);
}

static bool has_rhythm(const struct target *target, const struct slot *slot)
{
	const struct control_options *options = &target->control->options;

	return slot->armed && !(slot->watch.access & TL_EXEC) && !options->lasting &&
	       !options->stall_first && !target->brief.single;
}

void meeting_note(struct target *target, const struct slot *slot, const struct hit *hit)
{
	struct visit visit = {hit->access.identity, hit->entry, hit->exit ? hit->exit : hit->entry,
			      hit->access.access};
	struct rhythm *rhythm;

	if (!hit->usable || !has_rhythm(target, slot))
		return;
	rhythm = find(target, slot->watch.address);
	rhythm_visit(rhythm, &visit);
	plan(target, slot, rhythm);
}

void meeting_begin(struct target *target, const struct slot *slot)
{
	struct area_slot *shared = &target->shared->slot[slot->index];
	const struct rhythm *rhythm = known(target, slot->watch.address);

	atomic_store(&shared->meeting_until, 0);
	atomic_store(&shared->rhythmic, 0);
	if (rhythm && has_rhythm(target, slot))
		plan(target, slot, rhythm);
}

bool meeting_waits(const struct target *target, const struct slot *slot)
{
	return slot->armed && atomic_load(&target->shared->slot[slot->index].rhythmic);
}

bool meeting_is_on(const struct target *target)
{
	for (unsigned i = 0; i < target->slots; i++)
		if (meeting_waits(target, &target->slot[i]))
			return true;
	return false;
}

/* A slot for writes alone sees no readers come. Where there is time for it they are seen. */
void meeting_suit(struct target *target, struct tl_watch *watch)
{
	const struct rhythm *rhythm = known(target, watch->address);
	struct meeting meeting;

	if (!rhythm || (watch->access & TL_EXEC) || target->brief.single ||
	    !target->control->sleepy)
		return;
	meeting = rhythm_meeting(rhythm, control_now());
	if (!meeting.shared)
		return;
	watch->access = TL_READ | TL_WRITE;
	watch->widen = false;
	if (!meeting.rhythmic || meeting_is_on(target))
		return;
	watch->hits = SLOT_HITS_MAX;
	watch->window = WINDOW;
}
