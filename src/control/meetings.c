/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads are regular, others pass, and the first of two that are about to meet is held. */
#include "control/private.h"

#include <stdatomic.h>

#define WINDOW (2 * SECOND)

static struct rhythm *find(struct target *target, uint64_t address)
{
	struct rhythm *oldest = &target->rhythm[0];

	for (unsigned i = 0; i < RHYTHMS; i++) {
		struct rhythm *rhythm = &target->rhythm[i];

		if (rhythm->address == address)
			return rhythm;
		if (rhythm->seen < oldest->seen)
			oldest = rhythm;
	}
	*oldest = (struct rhythm){.address = address};
	return oldest;
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

void meeting_came(struct target *target, const struct slot *slot, const struct hit *hit)
{
	struct rhythm *rhythm;

	if (!hit->usable || !has_rhythm(target, slot))
		return;
	rhythm = find(target, slot->watch.address);
	rhythm_visit(rhythm, &(struct visit){hit->access.identity, hit->entry, hit->entry,
					     hit->access.access});
	plan(target, slot, rhythm);
}

void meeting_left(struct target *target, const struct slot *slot, const struct hit *hit)
{
	struct rhythm *rhythm;

	if (!hit->usable || !has_rhythm(target, slot))
		return;
	rhythm = find(target, slot->watch.address);
	rhythm_visit(rhythm, &(struct visit){hit->access.identity, hit->entry, hit->exit,
					     hit->access.access});
	plan(target, slot, rhythm);
}

static struct meeting expected(const struct target *target, uint64_t address)
{
	for (unsigned i = 0; i < RHYTHMS; i++)
		if (target->rhythm[i].address == address)
			return rhythm_meeting(&target->rhythm[i], control_now());
	return (struct meeting){0};
}

void meeting_begin(struct target *target, const struct slot *slot)
{
	struct area_slot *shared = &target->shared->slot[slot->index];

	atomic_store(&shared->meeting_until, 0);
	atomic_store(&shared->rhythmic, 0);
	if (has_rhythm(target, slot) && expected(target, slot->watch.address).rhythmic)
		plan(target, slot, find(target, slot->watch.address));
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
void meeting_suit(const struct target *target, struct tl_watch *watch)
{
	struct meeting meeting;

	if ((watch->access & TL_EXEC) || target->brief.single || !target->control->sleepy)
		return;
	meeting = expected(target, watch->address);
	if (!meeting.shared)
		return;
	watch->access = TL_READ | TL_WRITE;
	watch->widen = false;
	if (!meeting.rhythmic || meeting_is_on(target))
		return;
	watch->hits = SLOT_HITS_MAX;
	watch->window = WINDOW;
}
