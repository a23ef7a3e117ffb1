/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of free(). A call that is wrong beyond doubt is told and does nothing: the memory
 * it names is either in the quarantine, where nobody misses it, or was never a block. The
 * allocator would end the program, or be corrupted. Where nobody could be told, the call goes on to
 * the allocator, as it would without us, unless the block is one of ours, which it does not know.
 */
#include "guard/guard.h"

#include "allocation/allocator.h"
#include "guard/choose.h"
#include "guard/own.h"
#include "guard/pages.h"

#include <string.h>
#include <sys/single_threaded.h>

/* Bytes; from there on glibc maps a block of its own (M_MMAP_THRESHOLD of mallopt(3)), and moves it
 * without a copy. */
#define MOVE_LEAST (128u << 10)

/* The allocation functions of C alone lead from one to the other. A size is what the compiler knows
 * of the object: the block of another one is another object. */
static void tell_otherwise(const struct guard_record *record, uint64_t address,
			   struct guard_end end, struct allocation_caller caller)
{
	struct agent_guard_notice notice = {.event = GUARD_FREED_OTHERWISE,
					    .address = address,
					    .block = address,
					    .offset = end.family};

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
	const struct guard_record *record = &guard_table.record[place];
	uint64_t address = guard_address(
		atomic_load_explicit(&guard_table.entry[place], memory_order_relaxed));

	tell_damage(place, GUARD_BROKEN_DEAD, found->block, caller);
	tell_damage(place, GUARD_BROKEN_FRONT, found->front, caller);
	tell_damage(place, GUARD_BROKEN_BACK, found->back, caller);
	if (found->front.length || found->back.length)
		block_repair(record, address);
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

	/* One that was not kept has just been looked at. */
	if (process && !record->unkept) {
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

	if (process && !record->unkept) {
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
		if (process) {
			atomic_fetch_add_explicit(&process->guard.unkept, 1, memory_order_relaxed);
			atomic_fetch_add_explicit(&process->guard.unkept_time, 1,
						  memory_order_relaxed);
		}
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
		found = record->unkept ? block_check(record, address, true)
				       : block_check_and_keep(record, address);
		tell_damages(place, &found, caller);
		allocation_note_event(&record->freed, &caller, agent_now());
		record->checked = record->freed.time;
		if (may_tell && choose_affords())
			told = tell_event(&freed, caller);
	}
	put_aside(place);
	choose_pay_release(&bill, told, pages);
}

/* Of a large block what takes time, and twice its memory, is the copy. Those on pages of their own
 * cannot be moved, and are bounded by the memory that all of these may take. */
static bool is_moved(const struct guard_record *record, size_t size)
{
	return !guard_is_quiet() && !record->run && record->size >= MOVE_LEAST &&
	       size >= MOVE_LEAST && size <= GUARD_SIZE_MOST;
}

/* Accepted: what uses it by its old address later is not told of. It meets what it does bare, the
 * same memory or none. The controller looks for the block of a watch by its serial number, and
 * ends a watch whose block is no longer there. */
bool release_move(uint32_t place, uint64_t address, size_t size, struct allocation_caller caller,
		  void **moved)
{
	const struct guard_record *record = &guard_table.record[place];
	const struct guard_end end = {GUARD_MALLOC, 0};
	struct block_damages found;

	if (!is_moved(record, size))
		return false;
	found = block_check(record, address, true);
	tell_damages(place, &found, caller);
	tell_otherwise(record, address, end, caller);
	if (!guard_hide(place, address))
		return false;
	*moved = block_move(place, address, size, caller, release_make_place);
	if (!*moved)
		guard_show(place, address);
	return true;
}

/* The block of ours around what is to be freed. */
static uint32_t find_around(const void *block, bool wrong)
{
	uint32_t place = pages_owner((uintptr_t)block);

	if (place != GUARD_NOWHERE && guard_is_around(place, (uintptr_t)block))
		return place;
	return guard_find_around((uintptr_t)block, wrong);
}

bool release_refuse(const void *block, struct allocation_caller caller)
{
	bool wrong = own_looks_wrong(block);
	uint32_t place = GUARD_NOWHERE;

	if (wrong || own_suspected == UINTPTR_MAX)
		place = find_around(block, wrong);
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
		return release_refuse(block, caller);
	if (guard_change(place, GUARD_LIVE, GUARD_DYING))
		free_block(place, (uintptr_t)block, end, caller);
	else
		tell_refused(GUARD_FREED_TWICE, block, place, caller);
	return true;
}

void release_room(void)
{
	if (!pages_forgo())
		return;
	for (uint32_t place = 0; place < GUARD_BLOCKS; place++)
		if (guard_state(atomic_load_explicit(&guard_table.entry[place],
						     memory_order_acquire)) == GUARD_DEAD &&
		    guard_table.record[place].run)
			quarantine_leave(place, release_finally);
}

/* A record may change while it is looked at: then another block leaves early. */
static bool is_within(const struct guard_record *record, uint64_t from, uint64_t to)
{
	struct guard_ground ground = guard_ground(record);

	return ground.start < to && from < ground.start + ground.length;
}

/* What is only dropped takes no lock and makes no call. */
void release_range(uint64_t from, uint64_t to, bool may_free)
{
	for (uint32_t place = 0; place < GUARD_BLOCKS; place++)
		if (guard_may_reach(atomic_load_explicit(&guard_table.entry[place],
							 memory_order_acquire),
				    from, to) &&
		    is_within(&guard_table.record[place], from, to))
			quarantine_leave(place, may_free ? release_finally : guard_drop);
}

void release_limit(uint64_t bytes)
{
	if (agent_state.process)
		quarantine_limit(bytes, release_finally);
	else
		quarantine_note_limit(bytes);
}

bool release_make_place(uint64_t address)
{
	uint32_t place = guard_oldest_dead(address);

	return place != GUARD_NOWHERE && quarantine_leave(place, release_finally);
}

/*
 * At exit other threads may go on: what they free meanwhile they check themselves.
 *
 * A live block stays theirs. Its record is copied, and its patterns are read where nothing can be
 * unmapped under us (block_check()); what was seen counts only if the block is the same afterwards,
 * and nothing of it is mended.
 */
struct live_block {
	uint64_t word, serial;
	struct guard_record record;
};

static bool is_still(uint32_t place, const struct live_block *block)
{
	const struct guard_record *record = &guard_table.record[place];

	atomic_thread_fence(memory_order_acquire);
	/* The place first: a later block of the same address has another number by the time that it
	 * is LIVE. An empty block's size may be set late: usable() in interpose.c. */
	return atomic_load_explicit(&guard_table.entry[place], memory_order_acquire) ==
		       block->word &&
	       atomic_load_explicit(&record->serial, memory_order_relaxed) == block->serial &&
	       record->size == block->record.size;
}

static void check_live(uint32_t place, uint64_t word, bool alone)
{
	const struct guard_record *record = &guard_table.record[place];
	struct live_block block = {.word = word};
	struct allocation_caller nobody = {0};
	struct block_damages found;

	block.serial = atomic_load_explicit(&record->serial, memory_order_relaxed);
	memcpy(&block.record, record, sizeof(block.record));
	if (!is_still(place, &block))
		return;
	found = block_check(&block.record, guard_address(word), alone);
	if (!is_still(place, &block))
		return;
	tell_damage(place, GUARD_BROKEN_FRONT, found.front, nobody);
	tell_damage(place, GUARD_BROKEN_BACK, found.back, nobody);
}

/* Of blocks in the quarantine one is ours while it is LEAVING. Accepted: it stays there for good
 * when it was to leave meanwhile. */
static void check_dead(uint32_t place)
{
	struct allocation_caller nobody = {0};
	struct block_damages found;

	if (!guard_change(place, GUARD_DEAD, GUARD_LEAVING))
		return;
	found = block_check_dead(&guard_table.record[place],
				 guard_address(atomic_load_explicit(&guard_table.entry[place],
								    memory_order_relaxed)));
	tell_damages(place, &found, nobody);
	guard_change(place, GUARD_LEAVING, GUARD_DEAD);
}

void release_check_all(void)
{
	bool alone = __libc_single_threaded;

	for (uint32_t place = 0; place < GUARD_BLOCKS; place++) {
		uint64_t word =
			atomic_load_explicit(&guard_table.entry[place], memory_order_acquire);

		if (guard_state(word) == GUARD_LIVE)
			check_live(place, word, alone);
		else if (guard_state(word) == GUARD_DEAD)
			check_dead(place);
	}
}
