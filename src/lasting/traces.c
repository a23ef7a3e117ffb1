/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lasting watches: armed once, every hit told in order and forgotten. Nobody is held to find a
 * pair, so a record is free again as soon as it was told.
 */
#include "lasting/lasting.h"
#include "lasting/traces.h"
#include "notice/notice.h"
#include "hit/records.h"
#include "record/held.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The watched bytes as the record has them. False: it does not have them all, or they are more than
 * a register holds. */
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
			struct trace *trace)
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
		       struct hit *hit, struct trace *trace)
{
	bool code = slot->watch.access & TL_EXEC;

	trace->late = record->flags & AREA_HIT_LATE;
	trace->trap_pc = record->registers.pc;
	trace->judged = record->flags & AREA_HIT_JUDGED && !trace->late;
	trace->number = record->number;
	trace->before_known = record->flags & AREA_HIT_BEFORE && !code;
	trace->before = record->before;
	trace->understood = hit_attribute(target, slot, record, hit) || code;
	if (code) {
		hit->access.pc = hit->access.address = record->registers.pc;
		hit->access.length = 0;
		hit->access.access = TL_EXEC;
	} else if (!trace->understood || trace->late) {
		count_one(target->program, COUNT_TRACES_UNKNOWN);
		if (trace->late)
			count_one(target->program, COUNT_HITS_LATE);
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

static bool is_told(const struct area_hit *record, const void *told)
{
	return record->serial == ((const struct area_hit *)told)->serial;
}

bool lasting_holds(const struct program *program)
{
	const struct area_hit *told = &program->lasting->hits->copy;

	return !(told->flags & (AREA_HIT_UNHELD | AREA_HIT_LATE)) &&
	       area_holds(program->area, told->process, is_told, told);
}

static bool is_region(const struct area_hit *record)
{
	return record->flags & AREA_HIT_REGION;
}

void trace_tell(struct target *target, const struct area_hit *record, pid_t pid)
{
	struct trace trace = {0};
	struct slot *slot;
	struct hit *hit;

	count_one(target->program, COUNT_HITS);
	slot = &target->slot[record->slot];
	/* The program may have written anything into the record. */
	if (is_region(record) != (record->slot >= AREA_SLOTS)) {
		count_one(target->program, COUNT_HITS_STRANGE);
		return;
	}
	if (!slot->armed || slot->generation != record->generation) {
		count_one(target->program, COUNT_HITS_STALE);
		return;
	}
	hit = calloc(1, sizeof(*hit));
	if (!hit) {
		count_one(target->program, COUNT_HITS_DROPPED);
		return;
	}
	if (slot->each_thread)
		slot->watch.address = record->address;
	trace.held = slot->watch.hold && !(record->flags & (AREA_HIT_LATE | AREA_HIT_UNHELD));
	trace.address = slot->watch.address;
	if (is_region(record))
		take_region(target, record, hit, &trace);
	else
		understand(target, slot, record, hit, &trace);
	trace.access = &hit->access;
	trace.pid = pid;
	trace.slot = record->slot;
	trace.thread = record->thread;
	target->program->lasting->trace(target->program, &trace);
	hit_free(hit);
}

static void tell(struct program *program, const struct area_hit *record)
{
	struct target *target = record->process < AREA_PROCESSES ? program->target[record->process]
								 : NULL;

	if (!target || record->slot >= AREA_WATCHES) {
		count_one(program, COUNT_HITS_STRANGE);
		return;
	}
	if (record->flags & AREA_HIT_NOTICE)
		notice_tell(target, record);
	else
		trace_tell(target, record, target->pid);
}

/* Ends the hold of a thread whose hit has been told. */
static void release(struct program *program, const struct area_hit *record)
{
	struct target *target = record->process < AREA_PROCESSES ? program->target[record->process]
								 : NULL;

	if (!target || record->slot >= AREA_WATCHES)
		return;
	/* Where the slot holds nobody, only what the program wrote into the area can hold this
	 * thread: it is let go all the same, unless its record says that it is not held. */
	if (!target->slot[record->slot].watch.hold &&
	    record->flags & (AREA_HIT_UNHELD | AREA_HIT_NOTICE))
		return;
	slot_release(target, &target->slot[record->slot]);
}

static void tell_and_release(struct program *program, const struct area_hit *record)
{
	tell(program, record);
	release(program, record);
}

static void answer(struct program *program, const struct area_hit *record)
{
	if (record->flags & AREA_HIT_NOTICE)
		notice_answer(program, record->process);
}

void traces_collect(struct program *program)
{
	static const struct records_reader reader = {.tell = tell_and_release, .taken = answer};

	records_collect(program->lasting->hits, &reader);
}
