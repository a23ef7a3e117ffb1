/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/origin.h"

#include "answer/answers.h"
#include "answer/held.h"
#include "answer/probe.h"
#include "choice/arming.h"
#include "choice/requests.h"
#include "explore/manner.h"
#include "hold/hold.h"
#include "team/team.h"
#include "usage/in_use.h"

/* Widenings of one watch at most: each interrupts every CPU that a covered thread last ran on. */
#define WIDENINGS 3

static struct caller *caller_of(const struct target *target, const struct slot *slot)
{
	return &target->explored->answers->caller[slot->index];
}

void origin_begin(struct target *target, const struct slot *slot)
{
	*caller_of(target, slot) = (struct caller){0};
}

/* A slot for the address that a held thread is about to access: a silent one, else the one on data
 * that has seen fewest hits, whose watch ends. Not one that holds a thread, nor one where two
 * threads are expected to coincide (hold.h). */
static struct slot *make_room(struct explorer *explorer, struct target *target)
{
	struct slot *least = NULL;

	for (unsigned i = 0; i < target->slots; i++) {
		struct slot *slot = &target->slot[i];

		if ((slot->armed && (slot->watch.access & TL_EXEC)) || hits_are_held(slot) ||
		    meeting_waits(target, slot))
			continue;
		if (!slot->armed)
			least = slot;
		else if (!least || (least->armed && slot->seen < least->seen))
			least = slot;
	}
	if (least && least->armed)
		arming_finish(explorer, target, least);
	if (least)
		arming_forget_hits(target, least);
	return least;
}

static void move_hit(struct slot *from, struct slot *to, struct hit *hit)
{
	for (unsigned i = 0; i < from->hits; i++)
		if (from->hit[i] == hit) {
			from->hit[i] = from->hit[--from->hits];
			break;
		}
	to->hit[to->hits++] = hit;
}

static struct slot *watch_origin(struct explorer *explorer, struct target *target,
				 struct slot *slot, struct hit *hit)
{
	const struct manner *manner = manner_of(target);
	struct tl_watch watch;
	struct slot *data;

	code_came(target, hit);
	contended_tell(&target->explored->memory.contended, hit->access.pc, 1, true);
	if (code_is_probe(target, slot)) {
		probe_begin(target, slot, hit);
		return slot;
	}
	if (!held_watch(target, hit, &watch)) {
		if (!manner->lingers)
			slot_disarm(target, slot);
		return slot;
	}
	update_note(target, hit);
	data = slot_watching(target, watch.address);
	if (data && hit->usable && data->hits < SLOT_HITS_MAX) {
		/* The address is watched already: this thread, held before its access, counts as
		 * there, and makes a pair with another that is held at its own. */
		hit->origin = true;
		move_hit(slot, data, hit);
		return data;
	}
	if (data)
		return slot;
	if (cooldown_forbids(target, &watch)) {
		count_one(explorer->program, COUNT_REQUESTS_DEAR);
		return slot;
	}
	data = make_room(explorer, target);
	request_fill(&watch);
	meeting_suit(target, &watch);
	if (!data || slot_arm(target, data, &watch))
		return slot;
	if (manner->armed)
		manner->armed(target, slot, data, hit);
	choice_of(target, data)->heuristic = hit->usable ? choice_of(target, slot)->heuristic
							 : HEURISTIC_ARGUMENT;
	if (!hold_is_led(target, slot))
		hold_keep(target, data);
	if (!hit->usable)
		*caller_of(target, data) = (struct caller){slot, hit->access.tid};
	hit->origin = hit->usable;
	if (hit->usable && hit->access.address >= watch.address)
		move_hit(slot, data, hit);
	else
		return slot;
	return data;
}

/* The slot watches memory that a call is about to be handed, while the caller is held in front of
 * the call. Now another thread has come to that memory and is held: the caller is let go, so that
 * it makes its own access during that hold. */
static void let_caller_go(struct target *target, struct slot *slot, const struct hit *hit)
{
	struct caller caller = *caller_of(target, slot);

	if (!caller.slot || hit->access.tid == caller.tid)
		return;
	caller_of(target, slot)->slot = NULL;
	for (unsigned i = 0; i < caller.slot->hits; i++)
		if (!caller.slot->hit[i]->exit && caller.slot->hit[i]->access.tid == caller.tid)
			slot_release(target, caller.slot);
}

struct slot *origin_take_hit(struct target *target, struct slot *slot, struct hit *hit)
{
	if (team_has(target, slot) && (slot->watch.access & TL_EXEC)) {
		team_came(target, slot, hit);
		return slot;
	}
	if (slot->watch.access & TL_EXEC)
		return watch_origin(explorer_of(target), target, slot, hit);
	let_caller_go(target, slot, hit);
	team_met(target, slot, hit);
	if (slot->watch.widen && (hit->access.access & TL_WRITE) && slot->widenings < WIDENINGS)
		slot_widen(target, slot);
	return slot;
}
