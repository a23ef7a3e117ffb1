/* SPDX-License-Identifier: Apache-2.0 */
/* Lasting watches: armed by the caller, until the process ends or they are armed anew. */
#include "inject/stacks.h"
#include "lasting/duty.h"
#include "lasting/framed.h"
#include "lasting/lasting.h"
#include "lasting/traces.h"
#include "observe/observe.h"

#include <errno.h>
#include <stdatomic.h>

int lasting_arm(struct program *program, pid_t pid, unsigned index, const struct tl_watch *watch)
{
	struct target *target = target_find(program, pid);
	struct tl_watch lasting = *watch;
	struct slot *slot;
	int err;

	if (!target)
		return -ESRCH;
	if (index >= AREA_SLOTS)
		return -ENOSPC;
	slot = &target->slot[index];
	slot->index = index;
	if (target->observed) {
		err = observed_arm(target, slot, watch);
		if (!err)
			duty_begin(target, slot);
		return err;
	}
	slot_disarm(target, slot);
	if (slot->each_thread || (slot->watch.access ^ watch->access) & TL_EXEC)
		slot_close(target, slot);
	slot->watch = *watch;
	err = slot->open ? 0 : slot_open(target, slot);
	if (err)
		return err;
	if (!lasting.hits)
		lasting.hits = AREA_HITS_UNBOUND;
	slot->count_before = coverage_count(&slot->coverage);
	err = slot_arm(target, slot, &lasting);
	duty_begin(target, slot);
	return err;
}

struct slot *lasting_slot(struct program *program, pid_t pid, unsigned index,
			  struct target **target)
{
	*target = target_find(program, pid);
	return *target && index < AREA_WATCHES ? &(*target)->slot[index] : NULL;
}

int lasting_open(struct program *program, pid_t pid, unsigned index, const struct tl_watch *watch)
{
	struct target *target;
	struct slot *slot = lasting_slot(program, pid, index, &target);
	int err;

	if (!slot)
		return -ESRCH;
	slot->index = index;
	slot_close(target, slot);
	slot->watch = *watch;
	target->doubts.some = false;
	err = slot_open(target, slot);
	return err ? err : target->doubts.some;
}

void lasting_disarm(struct program *program, pid_t pid, unsigned index)
{
	struct target *target;
	struct slot *slot = lasting_slot(program, pid, index, &target);

	if (slot && target->observed)
		observed_disarm(target, slot);
	else if (slot)
		slot_disarm(target, slot);
}

bool lasting_is_whole(struct program *program, pid_t pid, unsigned index)
{
	struct target *target;
	const struct slot *slot = lasting_slot(program, pid, index, &target);

	return slot && slot->armed && slot->whole && !slot->coverage.ambiguous;
}

uint64_t lasting_count(struct program *program, pid_t pid, unsigned index)
{
	struct target *target;
	struct slot *slot = lasting_slot(program, pid, index, &target);

	return slot && slot->open
		       ? coverage_count(&slot->coverage) + slot->ended_hits - slot->count_before
		       : 0;
}

void lasting_count_redirects(struct program *program, pid_t pid, unsigned slots)
{
	uint64_t calls = 0, threads = 0;
	struct target *target;

	for (unsigned i = 0; i < slots; i++) {
		const struct slot *slot = lasting_slot(program, pid, i, &target);

		if (!slot || !slot->open)
			continue;
		calls += lasting_count(program, pid, i);
		if (threads < slot->coverage.left_out)
			threads = slot->coverage.left_out;
	}
	target = target_find(program, pid);
	if (target && target->stacks)
		threads += target->stacks->cramped.count;
	program->count[COUNT_CALLS_REDIRECTED] = calls;
	program->count[COUNT_THREADS_UNPATCHED] = threads;
}

uint64_t lasting_dropped(struct program *program, pid_t pid)
{
	struct target *target = target_find(program, pid);

	if (target && target->observed)
		return observed_lost(target);
	return target ? atomic_load(&target->shared->dropped) : 0;
}

uint64_t lasting_unsent(struct program *program, pid_t pid)
{
	struct target *target = target_find(program, pid);

	return target ? atomic_load(&target->shared->unsent) : 0;
}

void lasting_judge(struct program *program, pid_t pid, unsigned index,
		   const struct lasting_judging *judging)
{
	struct target *target;
	struct slot *slot = lasting_slot(program, pid, index, &target);
	struct area_slot *shared;

	if (!slot)
		return;
	/* The slot is disarmed first, since hits of what it watched before would leave their value
	 * in `last`. */
	lasting_disarm(program, pid, index);
	shared = &target->shared->slot[index];
	shared->unfiltered = judging->unfiltered;
	shared->values = judging->values;
	shared->certain = judging->certain;
	shared->is_signed = judging->is_signed;
	atomic_store(&shared->last, judging->value);
	atomic_store(&shared->last_known, judging->known);
}

struct filter *lasting_filter(struct program *program)
{
	return &program->area->filter;
}

struct filter_process *lasting_filter_process(struct program *program, pid_t pid)
{
	struct target *target = target_find(program, pid);

	return target ? &target->shared->filter : NULL;
}

/* Opens nothing, since each slot is opened when it is armed. */
static int open_none(struct target *target)
{
	target->slots = AREA_SLOTS;
	return 0;
}

static void collect(struct program *program)
{
	traces_collect(program);
}

static void run(struct program *program)
{
	framed_run(program);
	duty_run(program);
}

static uint64_t next_due(const struct program *program)
{
	uint64_t rested = framed_next(program), duty = duty_next(program);

	return rested < duty ? rested : duty;
}

static void start(struct program *program)
{
	duty_start(program);
}

static void ending(struct target *target)
{
	traces_collect(target->program);
}

const struct strategy lasting_strategy = {
	.name = "lasting",
	.ways = {.slots_stay = true,
		 .from_start = true,
		 .every_hit = true,
		 .unpaired = true,
		 .as_seen = true,
		 .beside_debuggers = true},
	.start = start,
	.open = open_none,
	.collect = collect,
	.ending = ending,
	.run = run,
	.next = next_due,
};

const struct strategy limits_strategy = {
	.name = "limits",
	.ways = {.slots_stay = true,
		 .from_start = true,
		 .every_hit = true,
		 .unpaired = true,
		 .beside_debuggers = true,
		 .unread = true},
	.open = open_none,
	.collect = collect,
	.ending = ending,
	.run = run,
	.next = next_due,
};

const struct strategy redirects_strategy = {
	.name = "redirects",
	.ways = {.slots_stay = true,
		 .from_start = true,
		 .unpaired = true,
		 .as_seen = true,
		 .beside_debuggers = true,
		 .events_stay = true},
	.start = start,
	.open = open_none,
	.collect = collect,
	.ending = ending,
	.run = run,
	.next = next_due,
};
