/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of free(). A call that is wrong beyond doubt is told and does nothing: the memory
 * it names is either in the quarantine, where nobody misses it, or was never a block. The
 * allocator would end the program, or be corrupted. Where nobody could be told, the call goes on to
 * the allocator, as it would without us, unless the block is one of ours, which it does not know.
 */
#include "guard/guard.h"

#include "agent/allocator.h"
#include "guard/choose.h"
#include "guard/own.h"
#include "guard/pages.h"

/* The allocation functions of C alone lead from one to the other. A size is what the compiler knows
 * of the object: the block of another one is another object. */
static void tell_otherwise(const struct guard_record *record, uint64_t address,
			   struct guard_end end, struct allocation_caller caller)
{
	struct agent_guard_notice notice = {
		.event = GUARD_FREED_OTHERWISE, .address = address, .block = address};

	if (record->family == end.family) {
		if (!end.size || end.size == record->size)
			return;
		notice.length = end.size < UINT32_MAX ? (uint32_t)end.size : UINT32_MAX;
	}
	tell_event(&notice, caller);
}

static void tell_damages(uint32_t place, const struct block_damages *found,
			 struct allocation_caller caller)
{
	struct guard_record *record = &guard_table.record[place];
	uint64_t address = guard_address(
		atomic_load_explicit(&guard_table.entry[place], memory_order_relaxed));

	tell_damage(place, GUARD_BROKEN_DEAD, found->block, caller);
	tell_damage(place, GUARD_BROKEN_FRONT, found->front, caller);
	tell_damage(place, GUARD_BROKEN_BACK, found->back, caller);
	if (found->front.length || found->back.length)
		block_repair(record, address);
	record->checked = agent_now();
}

/* Of a block at the place, which was just taken out of the quarantine. */
static void release_finally(uint32_t place)
{
	struct guard_record *record = &guard_table.record[place];
	const struct block_ground ground = {
		.raw = record->raw, .run = record->run, .pages = record->pages};
	uint64_t kept = record->kept;
	uint64_t address = guard_address(
		atomic_load_explicit(&guard_table.entry[place], memory_order_relaxed));
	struct area_process *process = agent_state.process;
	/* Nobody in particular: the block leaves because its time is over. */
	struct allocation_caller nobody = {0};
	struct block_damages found;

	if (process) {
		found = block_check_dead(record, address);
		tell_damages(place, &found, nobody);
		atomic_fetch_add_explicit(&process->guard.let_go, 1, memory_order_relaxed);
	}
	guard_drop(place);
	block_give_back(&ground, kept);
}

static void put_aside(uint32_t place)
{
	struct guard_record *record = &guard_table.record[place];
	struct area_process *process = agent_state.process;

	if (process) {
		if (record->run)
			pages_empty(record->run, record->pages);
		guard_change(place, GUARD_DYING, GUARD_DEAD);
		if (quarantine_put(place, release_finally))
			return;
		atomic_fetch_add_explicit(&process->guard.unkept, 1, memory_order_relaxed);
		/* Who needs its place may have let it go meanwhile. */
		if (!guard_change(place, GUARD_DEAD, GUARD_LEAVING))
			return;
	} else {
		if (record->run)
			pages_empty(record->run, record->pages);
		guard_change(place, GUARD_DYING, GUARD_LEAVING);
	}
	release_finally(place);
}

static void free_block(uint32_t place, uint64_t address, struct guard_end end,
		       struct allocation_caller caller)
{
	struct guard_record *record = &guard_table.record[place];
	const struct area_process *process = agent_state.process;
	struct agent_guard_notice freed = {
		.event = GUARD_FREED, .address = address, .block = address};
	struct choose_bill bill = {0};
	bool told = false, pages = record->run, may_tell = process && record->told == process->pid;
	struct block_damages found;

	if (process && !guard_is_quiet()) {
		choose_begin_bill(&bill, may_tell);
		tell_otherwise(record, address, end, caller);
		found = block_check_and_keep(record, address);
		tell_damages(place, &found, caller);
		allocation_note_event(&record->freed, &caller, agent_now());
		if (may_tell && choose_affords())
			told = tell_event(&freed, caller);
	}
	put_aside(place);
	choose_pay_release(&bill, told, pages);
}

static bool refuse(const void *block, struct allocation_caller caller)
{
	bool wrong = own_looks_wrong(block);
	uint32_t place = GUARD_NOWHERE;

	if (wrong || own_suspected == UINTPTR_MAX)
		place = guard_find_around((uintptr_t)block, wrong);
	if (place != GUARD_NOWHERE) {
		tell_refused(GUARD_FREED_INSIDE, block, place, caller);
		return true;
	}
	return own_is_no_block(block, caller.stack_pointer) &&
	       tell_refused(GUARD_FREED_NO_BLOCK, block, GUARD_NOWHERE, caller);
}

bool release(void *block, struct guard_end end, struct allocation_caller caller)
{
	uint32_t place = guard_find((uintptr_t)block);

	if (place == GUARD_NOWHERE)
		return refuse(block, caller);
	if (guard_change(place, GUARD_LIVE, GUARD_DYING))
		free_block(place, (uintptr_t)block, end, caller);
	else
		tell_refused(GUARD_FREED_TWICE, block, place, caller);
	return true;
}

bool release_make_place(uint64_t address)
{
	uint32_t place = guard_oldest_dead(address);

	return place != GUARD_NOWHERE && quarantine_leave(place, release_finally);
}

void release_check_all(void)
{
	struct allocation_caller nobody = {0};
	struct block_damages found;

	for (uint32_t place = 0; place < GUARD_BLOCKS; place++) {
		uint64_t word =
			atomic_load_explicit(&guard_table.entry[place], memory_order_acquire);

		/* Other threads may go on: what they free meanwhile they check themselves. */
		if (guard_state(word) == GUARD_LIVE)
			found = block_check(&guard_table.record[place], guard_address(word));
		else if (guard_state(word) == GUARD_DEAD)
			found = block_check_dead(&guard_table.record[place], guard_address(word));
		else
			continue;
		tell_damages(place, &found, nobody);
	}
}
