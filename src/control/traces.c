/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lasting watches: armed once, every hit told in order and forgotten. Nobody is held to find a
 * pair, so a record is free again as soon as it was told.
 */
#include "control/observed.h"
#include "control/private.h"

#include "base/syscall.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int control_arm(struct control *control, pid_t pid, unsigned index, const struct tl_watch *watch)
{
	struct target *target = target_find(control, pid);
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

static struct slot *find_slot(struct control *control, pid_t pid, unsigned index,
			      struct target **target)
{
	*target = target_find(control, pid);
	return *target && index < AREA_WATCHES ? &(*target)->slot[index] : NULL;
}

void control_disarm(struct control *control, pid_t pid, unsigned index)
{
	struct target *target;
	struct slot *slot = find_slot(control, pid, index, &target);

	if (slot && target->observed)
		observed_disarm(target, slot);
	else if (slot)
		slot_disarm(target, slot);
}

uint64_t control_slot_count(struct control *control, pid_t pid, unsigned index)
{
	struct target *target;
	struct slot *slot = find_slot(control, pid, index, &target);

	return slot && slot->open
		       ? coverage_count(&slot->coverage) + slot->ended_hits - slot->count_before
		       : 0;
}

uint64_t control_dropped(struct control *control, pid_t pid)
{
	struct target *target = target_find(control, pid);

	if (target && target->observed)
		return observed_lost(target);
	return target ? atomic_load(&target->shared->dropped) : 0;
}

uint64_t control_unsent(struct control *control, pid_t pid)
{
	struct target *target = target_find(control, pid);

	return target ? atomic_load(&target->shared->unsent) : 0;
}

void control_judge(struct control *control, pid_t pid, unsigned index,
		   const struct control_judging *judging)
{
	struct target *target;
	struct slot *slot = find_slot(control, pid, index, &target);
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
	return &control->area->filter;
}

struct filter_process *control_filter_process(struct control *control, pid_t pid)
{
	struct target *target = target_find(control, pid);

	return target ? &target->shared->filter : NULL;
}

/* The watched bytes as the record has them; of more than a register nothing is told. */
static bool watched_value(const struct slot *slot, uint64_t address, const struct hit *hit,
			  uint64_t *value)
{
	uint64_t offset = address - hit->value_address;

	*value = 0;
	if (slot->watch.access & TL_EXEC || slot->watch.length > sizeof(*value) ||
	    offset > hit->value_length || offset + slot->watch.length > hit->value_length)
		return false;
	memcpy(value, hit->value + offset, slot->watch.length);
	return true;
}

static void take_region(struct target *target, const struct area_hit *record, struct hit *hit,
			struct control_trace *trace)
{
	hit_take(target, record, hit);
	trace->trap_pc = record->registers.pc;
	trace->late = hit->access.access & TL_LATE;
	trace->understood = !trace->late;
	trace->address = hit->access.address;
	trace->value_known = hit->access.value_known && hit->access.length <= 8;
	trace->value = hit->access.value;
}

static void understand(struct target *target, struct slot *slot, const struct area_hit *record,
		       struct hit *hit, struct control_trace *trace)
{
	bool code = slot->watch.access & TL_EXEC;

	trace->late = record->flags & AREA_HIT_LATE;
	trace->trap_pc = record->registers.pc;
	trace->judged = record->flags & AREA_HIT_JUDGED && !trace->late;
	trace->number = record->number;
	trace->before_known = record->flags & AREA_HIT_BEFORE && !code;
	trace->before = record->before;
	trace->understood = hit_understand(target, slot, record, hit) || code;
	if (code) {
		hit->access.pc = hit->access.address = record->registers.pc;
		hit->access.length = 0;
		hit->access.access = TL_EXEC;
	} else if (!trace->understood || trace->late) {
		count_one(target->control, COUNT_TRACES_UNKNOWN);
		if (trace->late)
			count_one(target->control, COUNT_HITS_LATE);
		hit->access.pc = record->registers.pc;
		hit->access.address = slot->watch.address;
		hit->access.length = slot->watch.length;
		hit->access.access = slot->watch.access & TL_READ ? 0 : TL_WRITE;
		trace->understood = false;
	}
	trace->value_known = watched_value(slot, trace->address, hit, &trace->value);
	if (target->observed && hit->access.value_known && hit->access.address == trace->address &&
	    hit->access.length == slot->watch.length) {
		trace->value_known = true;
		trace->value = hit->access.value;
	}
}

static bool is_region(const struct area_hit *record)
{
	return record->flags & AREA_HIT_REGION;
}

void trace_tell(struct control *control, struct target *target, const struct area_hit *record)
{
	struct control_trace trace = {0};
	struct slot *slot;
	struct hit *hit;

	count_one(control, COUNT_HITS);
	slot = &target->slot[record->slot];
	/* Who writes what in a record, the program decides. */
	if (is_region(record) != (record->slot >= AREA_SLOTS)) {
		count_one(control, COUNT_HITS_STRANGE);
		return;
	}
	if (!slot->armed || slot->generation != record->generation) {
		count_one(control, COUNT_HITS_STALE);
		return;
	}
	hit = calloc(1, sizeof(*hit));
	if (!hit)
		return;
	if (slot->each_thread)
		slot->watch.address = record->address;
	trace.held = slot->watch.hold && !(record->flags & (AREA_HIT_LATE | AREA_HIT_UNHELD));
	trace.address = slot->watch.address;
	if (is_region(record))
		take_region(target, record, hit, &trace);
	else
		understand(target, slot, record, hit, &trace);
	trace.access = &hit->access;
	trace.slot = record->slot;
	trace.thread = record->thread;
	if (control->observer.trace)
		control->observer.trace(control->observer.context, &trace);
	hit_free(hit);
}

static void tell(struct control *control, const struct area_hit *record)
{
	struct target *target = record->process < AREA_PROCESSES ? control->target[record->process]
								 : NULL;

	if (!target || record->slot >= AREA_WATCHES) {
		count_one(control, COUNT_HITS_STRANGE);
		return;
	}
	if (record->flags & AREA_HIT_NOTICE)
		notice_tell(control, target, record);
	else
		trace_tell(control, target, record);
}

/* A record whose thread is leaving is written once more, by that thread: it is not told again and
 * taken back later. */
static void take_back(struct control *control, unsigned index)
{
	struct following *following = &control->following[index];

	following->settled = !area_hit_take(&control->area->hit[index]);
}

/* Ends the hold of a thread whose hit has been told. */
static void release(struct control *control, const struct area_hit *record)
{
	struct target *target = record->process < AREA_PROCESSES ? control->target[record->process]
								 : NULL;
	struct area_slot *shared;

	if (!target || record->slot >= AREA_WATCHES)
		return;
	/* One that is held although nobody wants it was told so by what the program wrote. */
	if (!target->slot[record->slot].watch.hold &&
	    record->flags & (AREA_HIT_UNHELD | AREA_HIT_NOTICE))
		return;
	shared = &target->shared->slot[record->slot];
	atomic_fetch_add(&shared->turn, 1);
	raw_futex((uint32_t *)&shared->turn, FUTEX_WAKE, 0x7fffffff, NULL);
}

struct waiting {
	uint64_t time, serial;
	unsigned index;
};

static int compare(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

void traces_collect(struct control *control)
{
	struct waiting waiting[AREA_HITS];
	unsigned count = 0;

	for (unsigned i = 0; i < AREA_HITS; i++) {
		struct area_hit *record = &control->area->hit[i];
		enum area_hit_state state =
			area_hit_state(atomic_load_explicit(&record->state, memory_order_acquire));

		if (control->following[i].settled)
			take_back(control, i);
		else if (state == AREA_HIT_HELD || state == AREA_HIT_LEAVING ||
			 state == AREA_HIT_DONE)
			waiting[count++] = (struct waiting){record->entry_time, record->serial, i};
	}
	qsort(waiting, count, sizeof(*waiting), compare);
	for (unsigned i = 0; i < count; i++) {
		struct area_hit *record = &control->area->hit[waiting[i].index];

		area_hit_copy(&control->copy, record);
		tell(control, &control->copy);
		release(control, &control->copy);
		take_back(control, waiting[i].index);
		if (control->copy.flags & AREA_HIT_NOTICE)
			notice_answer(control, control->copy.process);
	}
}
