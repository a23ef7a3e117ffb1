/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that come by an address at equal intervals, as timers make them, and when two of them
 * will come one shortly after the other. To hold whoever comes, as long as a thread may be held,
 * meets another that comes five times a second once in a hundred times, and that is all the holds
 * there are in ten seconds. So where both are regular, threads pass, and the first of the two is
 * held when they are about to meet.
 */
#include "control/private.h"

#include <stdatomic.h>
#include <string.h>

#define VISIT MILLISECOND /* accesses nearer to each other are one visit */
#define INTERVAL_LEAST (20 * MILLISECOND)
#define INTERVAL_MOST (4 * SECOND)
#define REGULAR_PARTS 32  /* two intervals differ by no more than this part of one … */
#define EARLY MILLISECOND /* … and by so much a thread may come before and after its time */
#define WINDOW (2 * SECOND)
#define MISSED_MOST 8 /* intervals not seen, after which nothing is foretold */

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

static struct beat *find_beat(struct rhythm *rhythm, uint64_t identity)
{
	struct beat *oldest = &rhythm->beat[0];

	for (unsigned i = 0; i < BEATS; i++) {
		struct beat *beat = &rhythm->beat[i];

		if (beat->identity == identity)
			return beat;
		if (beat->last < oldest->last)
			oldest = beat;
	}
	*oldest = (struct beat){.identity = identity};
	return oldest;
}

/* After a time that was not watched, or in which it was held elsewhere, its interval is the same:
 * only when it began is not. */
static void note_visit(struct beat *beat, uint64_t time)
{
	uint64_t passed = time - beat->last, bound = beat->interval / REGULAR_PARTS;

	if (beat->interval && passed > beat->interval + bound)
		return;
	beat->regular = beat->interval && passed + bound >= beat->interval;
	beat->interval = beat->last && passed >= INTERVAL_LEAST && passed <= INTERVAL_MOST ? passed
											   : 0;
}

/* When it comes next; 0: not known. */
static uint64_t next_of(const struct beat *beat, uint64_t now)
{
	uint64_t passed = now - beat->last, count = 1;

	if (!beat->regular || beat->last > now)
		return 0;
	if (passed + EARLY > beat->interval)
		count += (passed + EARLY) / beat->interval;
	return count <= MISSED_MOST ? beat->last + count * beat->interval : 0;
}

struct meeting {
	uint64_t from, until;
	bool rhythmic; /* two that conflict are regular, whenever they meet */
};

static void consider(const struct beat *a, const struct beat *b, uint64_t now,
		     struct meeting *meeting)
{
	uint64_t first = next_of(a, now), second = next_of(b, now);

	if (!first || !second || !((a->access | b->access) & TL_WRITE))
		return;
	meeting->rhythmic = true;
	if (first > second) {
		uint64_t later = first;

		first = second;
		second = later;
	}
	if (second - first + 2 * EARLY > HOLD_LONGEST ||
	    (meeting->until && meeting->from <= first - EARLY))
		return;
	meeting->from = first - EARLY;
	meeting->until = second + EARLY;
}

static struct meeting next_meeting(const struct rhythm *rhythm, uint64_t now)
{
	struct meeting meeting = {0};

	for (unsigned i = 0; i < BEATS; i++)
		for (unsigned j = i + 1; j < BEATS; j++)
			consider(&rhythm->beat[i], &rhythm->beat[j], now, &meeting);
	return meeting;
}

/* The end is what makes the beginning count: it is written last, and zero meanwhile. Pairs with
 * meets() of agent/handler.c. */
static void plan(struct target *target, const struct slot *slot, const struct rhythm *rhythm)
{
	struct area_slot *shared = &target->shared->slot[slot->index];
	struct meeting meeting = next_meeting(rhythm, control_now());

	/* Who was to meet may still be on the way. */
	if (atomic_load(&shared->meeting_until) > control_now() && meeting.rhythmic)
		return;
	atomic_store(&shared->meeting_until, 0);
	atomic_store(&shared->meeting_from, meeting.from);
	atomic_store(&shared->meeting_until, meeting.until);
	atomic_store(&shared->rhythmic, meeting.rhythmic);
	if (meeting.until)
		count_one(target->control, COUNT_MEETINGS);
}

static bool has_rhythm(const struct target *target, const struct slot *slot)
{
	const struct control_options *options = &target->control->options;

	return slot->armed && !(slot->watch.access & TL_EXEC) && !options->lasting &&
	       !options->stall_first && !target->brief.single;
}

static struct beat *note(struct rhythm *rhythm, const struct hit *hit)
{
	struct beat *beat = find_beat(rhythm, hit->access.identity);

	if (hit->entry > beat->last + VISIT) {
		note_visit(beat, hit->entry);
		beat->access = 0;
	}
	beat->access |= hit->access.access;
	rhythm->seen = hit->entry;
	return beat;
}

void rhythm_came(struct target *target, const struct slot *slot, const struct hit *hit)
{
	struct rhythm *rhythm;

	if (!hit->usable || !has_rhythm(target, slot))
		return;
	rhythm = find(target, slot->watch.address);
	note(rhythm, hit)->last = hit->entry;
	plan(target, slot, rhythm);
}

void rhythm_left(struct target *target, const struct slot *slot, const struct hit *hit)
{
	struct rhythm *rhythm;

	if (!hit->usable || !has_rhythm(target, slot))
		return;
	rhythm = find(target, slot->watch.address);
	note(rhythm, hit)->last = hit->exit;
	plan(target, slot, rhythm);
}

static const struct rhythm *known(const struct target *target, uint64_t address)
{
	for (unsigned i = 0; i < RHYTHMS; i++)
		if (target->rhythm[i].address == address &&
		    next_meeting(&target->rhythm[i], control_now()).rhythmic)
			return &target->rhythm[i];
	return NULL;
}

void rhythm_begin(struct target *target, const struct slot *slot)
{
	struct area_slot *shared = &target->shared->slot[slot->index];
	const struct rhythm *rhythm;

	atomic_store(&shared->meeting_until, 0);
	atomic_store(&shared->rhythmic, 0);
	rhythm = has_rhythm(target, slot) ? known(target, slot->watch.address) : NULL;
	if (rhythm)
		plan(target, slot, rhythm);
}

bool rhythm_is_on(const struct target *target)
{
	for (unsigned i = 0; i < target->slots; i++)
		if (target->slot[i].armed && atomic_load(&target->shared->slot[i].rhythmic))
			return true;
	return false;
}

void rhythm_suit(const struct target *target, struct tl_watch *watch)
{
	if ((watch->access & TL_EXEC) || target->brief.single || rhythm_is_on(target) ||
	    !known(target, watch->address))
		return;
	watch->access = TL_READ | TL_WRITE;
	watch->widen = false;
	watch->hits = SLOT_HITS_MAX;
	watch->window = WINDOW;
}
