/* SPDX-License-Identifier: Apache-2.0 */
/* Collects hits: seen when a thread begins its hold, complete when it ends. */
#include "hit/collect.h"

#include "base/clock.h"
#include "record/held.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_PASSES 4
#define HOLD_LOST (2 * SECOND) /* a thread killed or stopped in its hold never ends it */

/* Keeps a hit with its slot: it belongs to the slot while that is armed for it, and is freed with
 * the slot's list. */
static void keep(struct slot *slot, struct hit *hit)
{
	slot->hit[slot->hits++] = hit;
}

static void note_identity(struct slot *slot, uint64_t identity)
{
	for (unsigned i = 0; i < slot->identities; i++)
		if (slot->identity[i] == identity)
			return;
	if (slot->identities < 8)
		slot->identity[slot->identities++] = identity;
}

/* Tells that two threads accessed the same bytes within one watch, though not at the same time. */
static void note_sharing(const struct hits *hits, struct target *target, struct slot *slot,
			 const struct hit *hit)
{
	if (!hit->usable || (slot->watch.access & TL_EXEC))
		return;
	for (unsigned i = 0; i < slot->hits; i++) {
		const struct hit *other = slot->hit[i];

		if (!other->usable || !hits_conflict(hit, other) ||
		    (hit->access.access & other->access.access & TL_ATOMIC) ||
		    (armed_is_dear(target) && (!other->origin || other->exit)))
			continue;
		hits->events->shared(target, hit, other);
		note_identity(slot, other->access.identity); /* held before its access */
		count_one(target->program, COUNT_SHARED);
		return;
	}
}

/* Is the record to be kept? If one of the slot's watch is not, the watch is marked as missing a
 * hit, since its kept hits are judged by that. A slot that was silenced since has the generation
 * after its hits'. */
static bool admit(struct slot *slot, const struct area_hit *record)
{
	bool armed = slot->armed && slot->generation == record->generation;

	if (armed && slot->hits < SLOT_HITS_MAX)
		return true;
	if (armed || slot->generation == record->generation + 1)
		slot->missed = true;
	return false;
}

static void begin(struct hits *hits, struct following *following, const struct area_hit *shared)
{
	struct area_hit *record = &hits->copy;
	struct target *target;
	struct slot *slot;
	struct hit *hit;

	following->since = clock_now();
	following->pass = hits->pass;
	area_hit_copy(record, shared);
	target = record->process < AREA_PROCESSES ? hits->program->target[record->process] : NULL;
	if (!target || record->slot >= target->slots) {
		count_one(hits->program, COUNT_HITS_STRANGE);
		return;
	}
	slot = &target->slot[record->slot];
	count_one(hits->program, COUNT_HITS);
	if (!admit(slot, record)) {
		count_one(hits->program, COUNT_HITS_STALE);
		return;
	}
	hit = calloc(1, sizeof(*hit));
	if (!hit) {
		slot->missed = true;
		count_one(hits->program, COUNT_HITS_DROPPED);
		return;
	}
	slot->seen++;
	note_identity(slot, record->identity);
	hit->usable = hit_attribute(target, slot, record, hit);
	if (record->flags & AREA_HIT_LATE) {
		count_one(hits->program, COUNT_HITS_LATE);
		hit->usable = false;
	}
	note_sharing(hits, target, slot, hit);
	hits->events->visit(target, slot, hit);
	keep(slot, hit);
	following->target = target;
	following->hit = hit;
	following->slot = slot;
	following->generation = slot->generation;
	if (hit->usable && !(slot->watch.access & TL_EXEC))
		hits->events->seen(target, hit);
	if (area_hit_state(atomic_load(&shared->state)) == AREA_HIT_HELD)
		following->slot = hits->events->held(target, slot, hit);
}

static void settle(struct hits *hits, struct following *following, uint64_t exit)
{
	struct hit *hit = following->hit;

	if (hit) {
		hit->exit = exit;
		pairs_complete(hits->events, following->target, following->slot, hit);
		hits->events->visit(following->target, following->slot, hit);
	}
	following->hit = NULL;
	following->settled = true;
}

/* Takes the record back. Fails where the thread is changing it just now: a later pass takes it. */
static void take_back(struct following *following, struct area_hit *record)
{
	if (area_hit_take(record))
		*following = (struct following){0};
}

/* Notices, and hits of watches that tools placed: see placed.c; threads that are created: see
 * team/births.c. */
static bool is_told_in_order(const struct hits *hits, const struct area_hit *record)
{
	const struct target *target =
		record->process < AREA_PROCESSES ? hits->program->target[record->process] : NULL;

	return (record->flags & (AREA_HIT_NOTICE | AREA_HIT_BIRTH)) ||
	       (target && record->slot >= target->slots &&
		record->slot < target->slots + target->placed);
}

/* Acquire: what the thread wrote before publishing. Pairs with area_hit_publish(). */
static enum area_hit_state state_of(const struct area_hit *record)
{
	return area_hit_state(atomic_load_explicit(&record->state, memory_order_acquire));
}

static bool is_followed(const struct hits *hits, unsigned index)
{
	const struct area_hit *record = &hits->program->area->hit[index];
	enum area_hit_state state = state_of(record);

	if (state != AREA_HIT_HELD && state != AREA_HIT_LEAVING && state != AREA_HIT_DONE)
		return false;
	return !hits->following[index].told && !is_told_in_order(hits, record);
}

/* Begins to follow each new record. Returns how many there were. */
static unsigned begin_all(struct hits *hits)
{
	unsigned begun = 0;

	hits->pass++;
	for (unsigned i = 0; i < AREA_HITS; i++) {
		struct following *following = &hits->following[i];

		if (following->since || !is_followed(hits, i))
			continue;
		begin(hits, following, &hits->program->area->hit[i]);
		begun++;
	}
	return begun;
}

/*
 * A pass meets records in any order: it may begin a hit and have passed the place of an earlier
 * one. So passes go on until one finds no new record, and only hits that an earlier pass began are
 * settled: everything published before those is known by then.
 */
static void begin_new(struct hits *hits)
{
	for (unsigned pass = 0; pass < BEGIN_PASSES && begin_all(hits); pass++)
		;
}

static void end(struct hits *hits, unsigned index)
{
	struct area_hit *record = &hits->program->area->hit[index];
	struct following *following = &hits->following[index];

	if (!following->since || following->pass == hits->pass)
		return;
	if (!following->settled && state_of(record) == AREA_HIT_DONE) {
		settle(hits, following, atomic_load(&record->exit_time));
	} else if (!following->settled && clock_now() - following->since > HOLD_LOST) {
		count_one(hits->program, COUNT_HITS_LOST);
		settle(hits, following, following->since);
	}
	if (following->settled)
		take_back(following, record);
}

void hits_collect(struct hits *hits)
{
	begin_new(hits);
	for (unsigned i = 0; i < AREA_HITS; i++)
		if (is_followed(hits, i))
			end(hits, i);
}

void hits_forget_slot(struct hits *hits, struct slot *slot)
{
	for (unsigned i = 0; i < AREA_HITS; i++)
		if (hits->following[i].slot == slot) {
			hits->following[i].hit = NULL;
			hits->following[i].slot = NULL;
		}
	for (unsigned i = 0; i < slot->hits; i++)
		hit_free(slot->hit[i]);
	slot->hits = 0;
}

static bool is_of(const struct area_hit *record, uint32_t process)
{
	uint64_t state = atomic_load_explicit(&record->state, memory_order_acquire);

	return area_hit_state(state) != AREA_HIT_FREE && area_hit_owner(state) == process;
}

static void end_now(struct hits *hits, unsigned index)
{
	struct following *following = &hits->following[index];

	end(hits, index);
	if (!following->since || following->settled)
		return;
	if (following->hit)
		count_one(hits->program, COUNT_HITS_LOST);
	settle(hits, following, clock_now());
	take_back(following, &hits->program->area->hit[index]);
}

void hits_forget_target(struct hits *hits, struct target *target)
{
	if (hits->program->ways.unpaired)
		return;
	begin_new(hits);
	hits->pass++; /* so that everything these passes began counts as begun earlier */
	for (unsigned i = 0; i < AREA_HITS; i++)
		if (is_of(&hits->program->area->hit[i], target->index))
			end_now(hits, i);
}

void hits_reclaim(struct hits *hits, uint32_t process)
{
	for (unsigned i = 0; i < AREA_HITS; i++) {
		struct area_hit *record = &hits->program->area->hit[i];

		if (!is_of(record, process))
			continue;
		count_one(hits->program, COUNT_HITS_RECLAIMED);
		hits->following[i] = (struct following){0};
		area_hit_reclaim(record);
	}
}

bool hits_is_held(const struct hits *hits, const struct hit *hit)
{
	for (unsigned i = 0; i < AREA_HITS; i++)
		if (hits->following[i].hit == hit)
			return area_hit_is_held(&hits->program->area->hit[i]);
	return false;
}

bool hits_are_held(const struct slot *slot)
{
	for (unsigned i = 0; i < slot->hits; i++)
		if (!slot->hit[i]->exit)
			return true;
	return false;
}
