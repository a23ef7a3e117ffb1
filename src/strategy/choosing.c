/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy of choosing, for races: which address goes to which slot, and for how long. What is
 * armed next is decided by the manner (manner.h), what follows from a held thread by
 * answer/origin.c; here is when watches end, and what else is done as time passes.
 */
#include "aim/aim.h"
#include "answer/origin.h"
#include "answer/probe.h"
#include "choice/arming.h"
#include "choice/requests.h"
#include "hit/collect.h"
#include "hold/hold.h"
#include "strategy/explored.h"
#include "strategy/strategies.h"
#include "team/births.h"
#include "team/team.h"
#include "usage/background.h"
#include "usage/foresee.h"
#include "usage/in_use.h"

#include <errno.h>
#include <stdatomic.h>

#define LOOK_INTERVAL (50 * MILLISECOND)
/* Looks at the beginning; later ones tell little new and cost as much. */
#define LOOKS_SOON 20
#define HOLD_LOOK MILLISECOND /* between two looks at whether a hold has ended */
/* Hits by one thread alone after which an address is given up. */
#define SOLITARY_HITS 6

/* Has one thread alone hit the slot, SOLITARY_HITS times? No other is likely to in the rest of the
 * window. */
static bool is_solitary(const struct slot *slot)
{
	return slot->identities == 1 && slot->seen >= SOLITARY_HITS &&
	       !(slot->watch.access & TL_EXEC);
}

/* Prolongs a watch whose window is over, which several threads have hit and whose slot no other
 * address waits for. It stays for another window, with holds twice as long, since its threads come
 * seldom. */
static void extend(struct target *target, struct slot *slot, uint64_t now)
{
	struct area_slot *shared = &target->shared->slot[slot->index];

	slot->deadline = now + slot->watch.window;
	if (shared->hold < HOLD_LONGEST)
		shared->hold *= 2;
}

/* Ends or narrows a slot that was widened to reads and whose holds are over. Narrowing it to writes
 * costs as much as arming it for another address, which is worth more if one waits. */
static void after_wide(struct explorer *explorer, struct target *target, struct slot *slot)
{
	if (request_waits(explorer, target))
		arming_finish(explorer, target, slot);
	else
		slot_narrow(target, slot);
}

/* Was the slot armed for what a thread, held before its access, was about to access? */
static bool has_origin(const struct slot *slot)
{
	return slot->hits && slot->hit[0]->origin;
}

static void run_armed(struct explorer *explorer, struct target *target, struct slot *slot,
		      uint64_t now)
{
	const struct area_slot *shared = &target->shared->slot[slot->index];

	if (atomic_load(&shared->hits) >= slot->watch.hits) {
		arming_finish(explorer, target, slot);
	} else if (now >= slot->deadline && hits_are_held(slot) && manner_of(target)->lingers) {
		slot->deadline = now + HOLD_LOOK;
	} else if (now >= slot->deadline) {
		arming_finish(explorer, target, slot);
	} else if (is_solitary(slot)) {
		count_one(explorer->program, COUNT_SOLITARY);
		arming_finish(explorer, target, slot);
	} else if (!manner_of(target)->lingers && has_origin(slot) && !hits_are_held(slot) &&
		   choice_of(target, slot)->heuristic != HEURISTIC_AIM) {
		arming_finish(explorer, target, slot);
	} else if (slot->wide && !hits_are_held(slot)) {
		after_wide(explorer, target, slot);
	}
}

static void run_slot(struct explorer *explorer, struct target *target, struct slot *slot,
		     uint64_t now)
{
	team_run(target, slot, now);
	if (slot->armed) {
		if (now >= slot->deadline && now < slot->armed_at + WINDOW_MAX &&
		    !(slot->watch.access & TL_EXEC) && slot->identities > 1 &&
		    !request_waits(explorer, target) && manner_of(target)->lingers)
			extend(target, slot, now);
		run_armed(explorer, target, slot, now);
	}
	if (slot->armed && target->debugged)
		arming_finish(explorer, target, slot);
	if (choice_of(target, slot)->probed_until && now >= choice_of(target, slot)->probed_until)
		probe_end(target, slot);
	if (slot->armed || hits_are_held(slot))
		return;
	arming_forget_hits(target, slot);
	if (may_watch(explorer, now) && !target->debugged)
		manner_of(target)->arm(explorer, target, slot, now);
}

static void look(struct target *target, uint64_t now)
{
	struct turns *turns = target->explored->turns;

	code_look(target);
	active_look(target, now);
	turns->looks++;
	if (turns->looks < LOOKS_SOON)
		turns->next_look = now + LOOK_INTERVAL;
	else
		turns->next_look = now + manner_of(target)->look_interval;
}

static void run(struct program *program)
{
	struct explorer *explorer = program->explorer;
	uint64_t now = clock_now();

	requests_expire(explorer, now);
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = explorer->program->target[i];

		if (target) {
			background_look(target);
			births_run(target, now);
		}
		if (target && target->slots && may_watch(explorer, now))
			aim_look(target, now);
		if (target && target->slots && now >= target->explored->turns->next_look &&
		    may_watch(explorer, now))
			look(target, now);
		for (unsigned j = 0; target && j < target->slots; j++)
			run_slot(explorer, target, &target->slot[j], now);
	}
}

/* When a slot with held threads is looked at next. The program does not tell when a hold ends: the
 * controller looks when the first one is due to end, since few end earlier, and then every
 * HOLD_LOOK. */
static uint64_t hold_due(const struct slot *slot)
{
	uint64_t soon = clock_now() + HOLD_LOOK, first = UINT64_MAX;

	for (unsigned i = 0; i < slot->hits; i++)
		if (!slot->hit[i]->exit && slot->hit[i]->entry + slot->watch.hold < first)
			first = slot->hit[i]->entry + slot->watch.hold;
	return first > soon ? first : soon;
}

static uint64_t slot_due(const struct target *target, const struct slot *slot)
{
	if (slot->armed)
		return slot->deadline;
	if (choice_of(target, slot)->probed_until)
		return choice_of(target, slot)->probed_until;
	if (hits_are_held(slot))
		return hold_due(slot);
	return manner_of(target)->due(target, slot);
}

static uint64_t next_due(const struct program *program)
{
	const struct explorer *explorer = program->explorer;
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = explorer->program->target[i];

		if (target && births_next(target) < next)
			next = births_next(target);
		for (unsigned j = 0; target && j < target->slots; j++) {
			uint64_t due = slot_due(target, &target->slot[j]);

			next = due < next ? due : next;
		}
	}
	return next;
}

static void note_shared(struct target *target, const struct hit *hit, const struct hit *other)
{
	code_contended(target, hit->access.pc, hit->access.tid);
	code_contended(target, other->access.pc, other->access.tid);
}

static int open_slots(struct target *target)
{
	const struct control_options *options = &target->program->options;

	explored_prepare(target);
	target->placed = options->placed;
	for (unsigned i = 0; i < options->slots; i++) {
		int err;

		target->slot[i].index = i;
		err = slot_open(target, &target->slot[i]);
		if (err)
			return i > 0 && err == -ENOSPC ? 0 : err;
		target->slots = i + 1;
	}
	team_begin(target);
	return 0;
}

static void collect(struct program *program)
{
	hits_collect(program->explorer->hits);
	births_collect(program);
}

/* Learns from a thread that hit the slot, held or not: its registers tell what it will do next
 * (foresee.h). */
static void note_visit(struct target *target, const struct slot *slot, const struct hit *hit)
{
	aim_visit(target, slot, hit);
	meeting_note(target, slot, hit);
	team_held(target, slot, hit);
	if (!hit->exit && !team_has(target, slot)) {
		struct insn_registers registers = hit_registers(&hit->stack.registers);

		foresee(target, hit->access.tid, &registers);
	}
}

/* Called when a watch begins: forgets the last one, and writes how threads are to be held. */
static void publish(struct target *target, struct slot *slot)
{
	arming_begin(target, slot);
	origin_begin(target, slot);
	aim_begin(target, slot);
	if (!team_publish(target, slot))
		choose_hold(target, slot);
}

const struct manner *const choosing_manners[2] = {&manner_together, &manner_singly};

const struct strategy choosing_strategy = {
	.name = "choosing",
	.ways = {.sampled = true, .budgeted = true},
	.open = open_slots,
	.publish = publish,
	.collect = collect,
	.run = run,
	.next = next_due,
	.hit = origin_take_hit,
	.visit = note_visit,
	.shared = note_shared,
};
