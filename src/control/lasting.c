/* SPDX-License-Identifier: Apache-2.0 */
/* Lasting watches: armed by the caller, until the process ends or they are armed anew. */
#include "control/observed.h"
#include "control/duty.h"
#include "control/lasting.h"
#include "control/state.h"
#include "control/traces.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>

int control_arm(struct control *control, pid_t pid, unsigned index, const struct tl_watch *watch)
{
	struct target *target = target_find(&control->program, pid);
	struct tl_watch lasting = *watch;
	struct slot *slot;
	int err;

	if (!target)
		return -ESRCH;
	if (index >= AREA_SLOTS)
		return -ENOSPC;
	slot = &target->slot[index];
	slot->index = index;
	if (target->observed)
		return observed_arm(target, slot, watch);
	slot_disarm(target, slot);
	if (slot->each_thread || (slot->watch.access ^ watch->access) & TL_EXEC)
		slot_close(target, slot);
	slot->watch = *watch;
	err = slot->open ? 0 : slot_open(target, slot);
	if (err)
		return err;
	lasting.hits = UINT_MAX;
	slot->count_before = coverage_count(&slot->coverage);
	err = slot_arm(target, slot, &lasting);
	duty_begin(target, slot);
	return err;
}

struct slot *lasting_slot(struct control *control, pid_t pid, unsigned index,
			  struct target **target)
{
	*target = target_find(&control->program, pid);
	return *target && index < AREA_WATCHES ? &(*target)->slot[index] : NULL;
}

void control_disarm(struct control *control, pid_t pid, unsigned index)
{
	struct target *target;
	struct slot *slot = lasting_slot(control, pid, index, &target);

	if (slot && target->observed)
		observed_disarm(target, slot);
	else if (slot)
		slot_disarm(target, slot);
}

uint64_t control_slot_count(struct control *control, pid_t pid, unsigned index)
{
	struct target *target;
	struct slot *slot = lasting_slot(control, pid, index, &target);

	return slot && slot->open
		       ? coverage_count(&slot->coverage) + slot->ended_hits - slot->count_before
		       : 0;
}

uint64_t control_dropped(struct control *control, pid_t pid)
{
	struct target *target = target_find(&control->program, pid);

	if (target && target->observed)
		return observed_lost(target);
	return target ? atomic_load(&target->shared->dropped) : 0;
}

uint64_t control_unsent(struct control *control, pid_t pid)
{
	struct target *target = target_find(&control->program, pid);

	return target ? atomic_load(&target->shared->unsent) : 0;
}

void control_judge(struct control *control, pid_t pid, unsigned index,
		   const struct control_judging *judging)
{
	struct target *target;
	struct slot *slot = lasting_slot(control, pid, index, &target);
	struct area_slot *shared;

	if (!slot)
		return;
	/* Hits of what it watched before would leave their value. */
	control_disarm(control, pid, index);
	shared = &target->shared->slot[index];
	shared->unfiltered = judging->unfiltered;
	shared->values = judging->values;
	shared->certain = judging->certain;
	shared->is_signed = judging->is_signed;
	atomic_store(&shared->last, judging->value);
	atomic_store(&shared->last_known, judging->known);
}

struct filter *control_filter(struct control *control)
{
	return &control->program.area->filter;
}

struct filter_process *control_filter_process(struct control *control, pid_t pid)
{
	struct target *target = target_find(&control->program, pid);

	return target ? &target->shared->filter : NULL;
}

/* Each is opened when it is armed. */
static int open_none(struct target *target)
{
	target->slots = AREA_SLOTS;
	return 0;
}

static void collect(struct program *program)
{
	traces_collect(program->control);
}

static void run(struct program *program)
{
	duty_run(program->control);
}

static uint64_t next_due(const struct program *program)
{
	return duty_next(program->control);
}

const struct strategy lasting_strategy = {
	.name = "lasting",
	.ways = {.slots_stay = true},
	.open = open_none,
	.collect = collect,
	.run = run,
	.next = next_due,
};
