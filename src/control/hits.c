/* SPDX-License-Identifier: Apache-2.0 */
/* Hits on their way: seen when a thread begins its hold, complete when it ends. */
#include "control/private.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_LOST (2 * SECOND) /* a thread killed or stopped in its hold never ends it */

void hit_free(struct hit *hit)
{
	if (!hit)
		return;
	free(hit->stack_bytes);
	free(hit);
}

/* A hit belongs to its slot while that is armed for it, and is freed with the slot's list. */
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

/* Two threads at the same bytes within one watch, not at the same time as yet. */
static void note_sharing(struct target *target, struct slot *slot, const struct hit *hit)
{
	if (!hit->usable || (slot->watch.access & TL_EXEC))
		return;
	for (unsigned i = 0; i < slot->hits; i++) {
		const struct hit *other = slot->hit[i];

		if (!other->usable || !hits_conflict(hit, other) ||
		    (hit->access.access & other->access.access & TL_ATOMIC) ||
		    (target->brief.single && (!other->origin || other->exit)))
			continue;
		promises_note(target, hit->access.pc, hit->access.tid);
		promises_note(target, other->access.pc, other->access.tid);
		note_identity(slot, other->access.identity); /* that was held before its access */
		count_one(target->control, COUNT_SHARED);
		return;
	}
}

static void begin(struct control *control, struct following *following,
		  const struct area_hit *shared)
{
	struct area_hit *record = &control->copy;
	struct target *target;
	struct slot *slot;
	struct hit *hit;

	following->since = control_now();
	area_hit_copy(record, shared);
	target = record->process < AREA_PROCESSES ? control->target[record->process] : NULL;
	if (!target || record->slot >= target->slots) {
		count_one(control, COUNT_HITS_STRANGE);
		return;
	}
	slot = &target->slot[record->slot];
	count_one(control, COUNT_HITS);
	if (!slot->armed || slot->generation != record->generation || slot->hits == SLOT_HITS_MAX) {
		count_one(control, COUNT_HITS_STALE);
		return;
	}
	hit = calloc(1, sizeof(*hit));
	if (!hit)
		return;
	slot->seen++;
	note_identity(slot, record->identity);
	hit->usable = hit_understand(target, slot, record, hit);
	if (record->flags & AREA_HIT_LATE) {
		count_one(control, COUNT_HITS_LATE);
		hit->usable = false;
	}
	note_sharing(target, slot, hit);
	meeting_note(target, slot, hit);
	keep(slot, hit);
	following->target = target;
	following->hit = hit;
	following->slot = slot;
	following->generation = slot->generation;
	if (hit->usable && control->observer.hit && !(slot->watch.access & TL_EXEC))
		control->observer.hit(control->observer.context, &hit->access);
	if (area_hit_state(atomic_load(&shared->state)) == AREA_HIT_HELD)
		following->slot = schedule_hit(control, target, slot, hit);
}

static void settle(struct control *control, struct following *following, uint64_t exit)
{
	struct hit *hit = following->hit;

	if (hit) {
		hit->exit = exit;
		pairs_complete(control, following->slot, hit);
		meeting_note(following->target, following->slot, hit);
	}
	following->hit = NULL;
	following->settled = true;
}

/* What its thread is about to change is taken back another time. */
static void take_back(struct following *following, struct area_hit *record)
{
	if (area_hit_take(record))
		*following = (struct following){0};
}

static void look(struct control *control, unsigned index)
{
	struct area_hit *record = &control->area->hit[index];
	struct following *following = &control->following[index];
	/* Acquire: what the thread wrote before publishing. Pairs with area_hit_publish(). */
	enum area_hit_state state =
		area_hit_state(atomic_load_explicit(&record->state, memory_order_acquire));

	if (state != AREA_HIT_HELD && state != AREA_HIT_LEAVING && state != AREA_HIT_DONE)
		return;
	if (!following->since)
		begin(control, following, record);
	state = area_hit_state(atomic_load_explicit(&record->state, memory_order_acquire));
	if (!following->settled && state == AREA_HIT_DONE) {
		settle(control, following, atomic_load(&record->exit_time));
	} else if (!following->settled && control_now() - following->since > HOLD_LOST) {
		count_one(control, COUNT_HITS_LOST);
		settle(control, following, following->since);
	}
	if (following->settled)
		take_back(following, record);
}

void hits_collect(struct control *control)
{
	for (unsigned i = 0; i < AREA_HITS; i++)
		look(control, i);
}

void hits_forget_slot(struct control *control, struct slot *slot)
{
	for (unsigned i = 0; i < AREA_HITS; i++)
		if (control->following[i].slot == slot) {
			control->following[i].hit = NULL;
			control->following[i].slot = NULL;
		}
	for (unsigned i = 0; i < slot->hits; i++)
		hit_free(slot->hit[i]);
	slot->hits = 0;
	slot->probe.until = 0; /* its hit is gone */
}

static bool is_of(const struct area_hit *record, uint32_t process)
{
	uint64_t state = atomic_load_explicit(&record->state, memory_order_acquire);

	return area_hit_state(state) != AREA_HIT_FREE && area_hit_owner(state) == process;
}

void hits_forget_target(struct control *control, struct target *target)
{
	for (unsigned i = 0; !control->options.lasting && i < AREA_HITS; i++) {
		struct area_hit *record = &control->area->hit[i];
		struct following *following = &control->following[i];

		if (!is_of(record, target->index))
			continue;
		look(control, i);
		if (!following->since || following->settled)
			continue;
		if (following->hit)
			count_one(control, COUNT_HITS_LOST);
		settle(control, following, control_now());
		take_back(following, record);
	}
}

void hits_reclaim(struct control *control, uint32_t process)
{
	for (unsigned i = 0; i < AREA_HITS; i++) {
		struct area_hit *record = &control->area->hit[i];

		if (!is_of(record, process))
			continue;
		count_one(control, COUNT_HITS_RECLAIMED);
		control->following[i] = (struct following){0};
		area_hit_reclaim(record);
	}
}
