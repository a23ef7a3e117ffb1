/* SPDX-License-Identifier: Apache-2.0 */
#include "notice/guards.h"

#include "base/clock.h"
#include "base/syscall.h"
#include "notice/notice.h"
#include "event/lethal.h"
#include "hit/stack.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#define ALL_PARTS 3000u /* per 10,000, where all blocks are guarded at up to twice the time */
/* Where all are guarded: of contexts that are new so many blocks have all of it, however slow the
 * machine is. */
#define WHOLE_USUAL 8192u
/* Blocks that stand on pages of their own, whatever contexts they are of: some 5 us each. */
#define PAGED_USUAL 65536u
#define LOOK_BACK 1024u /* bytes: a block that begins farther before an address is not found */
/* Of all contexts' first blocks so many are told of at their birth. Each may hold its thread for
 * some 15 ms, with what a tool watches by it. */
#define TOLD_USUAL 512u
#define OFTEN_USUAL SECOND
#define LOAN_USUAL 50000000u /* ns */
#define LOAN_PARTS 10	     /* of what is lent to all, where that is chosen */
#define PLACES (LOOK_BACK / GUARD_ALIGNMENT)

_Static_assert((int)TL_GUARDED_BORN == GUARD_BORN &&
		       (int)TL_GUARDED_BROKEN_FREED == GUARD_BROKEN_DEAD &&
		       (int)TL_GUARDED_NEW_ARRAY == GUARD_NEW_ARRAY,
	       "what tools are told is what programs tell");
_Static_assert(PLACES <= SPACE_PARTS, "one call reads all the places");

/* ---- what the program's memory shows ------------------------------------------------------- */

static void bound(struct allocation_event *event)
{
	if (event->frames > ALLOCATION_FRAMES)
		event->frames = ALLOCATION_FRAMES;
	event->thread[ALLOCATION_NAME - 1] = '\0';
	/* Return addresses, of which the first is told as the call's own place. */
	if (event->frames)
		event->frame[0]--;
}

static uint64_t entry_at(uint64_t table, uint32_t place)
{
	return table + offsetof(struct guard_table, entry) + place * sizeof(uint64_t);
}

static void take_word(struct guards_block *block, uint64_t word)
{
	block->address = guard_address(word);
	block->state = guard_state(word);
	bound(&block->record.allocated);
	bound(&block->record.freed);
	if (block->record.raw > block->address)
		block->record.raw = block->address;
}

/* The record, and the entry once more: it is still the same block's. */
static bool read_block(struct space *space, uint64_t table, uint32_t place, uint64_t word,
		       struct guards_block *block)
{
	uint64_t record =
		table + offsetof(struct guard_table, record) + place * sizeof(struct guard_record);
	uint64_t again = 0;
	struct space_part part[] = {{record, &block->record, sizeof(block->record)},
				    {entry_at(table, place), &again, sizeof(again)}};

	if (space_gather(space, part, 2) != 2 || guard_address(again) != guard_address(word))
		return false;
	take_word(block, again);
	return true;
}

static bool is_there(uint64_t word)
{
	enum guard_state state = guard_state(word);

	return state != GUARD_NONE && state <= GUARD_LEAVING;
}

static uint64_t table_of(struct program *program, pid_t pid, struct target **target)
{
	*target = target_find(program, pid);
	return *target ? atomic_load(&(*target)->shared->guard.table) : 0;
}

bool guards_at(struct program *program, pid_t pid, uint64_t address, struct guards_block *block)
{
	struct target *target;
	uint64_t table = table_of(program, pid, &target), word[GUARD_WAYS];
	uint32_t place = guard_place(address);

	if (!table || space_read(target->space, entry_at(table, place), word, sizeof(word)) !=
			      (ssize_t)sizeof(word))
		return false;
	for (uint32_t i = 0; i < GUARD_WAYS; i++)
		if (is_there(word[i]) && guard_address(word[i]) == address)
			return read_block(target->space, table, place + i, word[i], block);
	return false;
}

static bool is_around(const struct guards_block *block, uint64_t address)
{
	return address >= block->record.raw && address - block->record.raw < block->record.room;
}

bool guards_around(struct program *program, pid_t pid, uint64_t address, struct guards_block *block)
{
	struct target *target;
	uint64_t table = table_of(program, pid, &target);
	uint64_t word[PLACES][GUARD_WAYS] = {{0}};
	struct space_part part[PLACES];
	/* What lies before a block is its own, too. */
	uint64_t first = (address & ~(uint64_t)(GUARD_ALIGNMENT - 1)) + GUARD_ALIGNMENT;
	unsigned count;

	if (!table)
		return false;
	for (unsigned i = 0; i < PLACES; i++)
		part[i] = (struct space_part){entry_at(table,
						       guard_place(first - i * GUARD_ALIGNMENT)),
					      word[i], sizeof(word[i])};
	count = space_gather(target->space, part, PLACES);
	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j < GUARD_WAYS; j++)
			if (is_there(word[i][j]) &&
			    guard_address(word[i][j]) == first - i * GUARD_ALIGNMENT &&
			    read_block(target->space, table,
				       guard_place(first - i * GUARD_ALIGNMENT) + j, word[i][j],
				       block) &&
			    is_around(block, address))
				return true;
	return false;
}

int guards_pages(struct program *program, pid_t pid, struct guards_pages *pages)
{
	struct target *target = target_find(program, pid);
	struct guard_process *guard = target ? &target->shared->guard : NULL;
	uint32_t descriptor = guard ? atomic_load(&guard->descriptor) : 0;

	if (!descriptor || !guard->pages || !guard->owner)
		return -ENOENT;
	pages->start = guard->pages;
	space_guard_pages(target->space, pages->start, (uint64_t)GUARD_PAGES * GUARD_PAGE);
	pages->owner = guard->owner;
	pages->asked = (uint32_t *)guard->asked;
	pages->touched = (uint32_t *)&guard->touched;
	_Static_assert(offsetof(struct guard_choice, heard) ==
			       offsetof(struct guard_choice, bell) + sizeof(uint32_t),
		       "the word behind the bell");
	pages->bell = (uint32_t *)&program->area->guard.bell;
	pages->descriptor = lethal_getfd(target->pidfd, (int)descriptor - 1);
	if (pages->descriptor < 0)
		return pages->descriptor;
	atomic_store(&guard->pages_seen, 1);
	return 0;
}

/* A page's owner may be out of date: its place another block's, on memory of the allocator's even,
 * and the page the program's own. */
static bool is_on_run(const struct guards_block *block, uint64_t address)
{
	const struct guard_record *record = &block->record;

	return record->run && address >= record->run && record->pages < GUARD_PAGES &&
	       address - record->run < (record->pages + 1ull) * GUARD_PAGE;
}

bool guards_on_page(struct program *program, pid_t pid, uint64_t address,
		    struct guards_block *block)
{
	struct target *target;
	uint64_t table = table_of(program, pid, &target), start, owner, word;
	uint32_t place;

	if (!table)
		return false;
	start = target->shared->guard.pages;
	owner = target->shared->guard.owner;
	if (!start || !owner || address < start || (address - start) / GUARD_PAGE >= GUARD_PAGES)
		return false;
	owner += (address - start) / GUARD_PAGE * sizeof(place);
	if (space_read(target->space, owner, &place, sizeof(place)) != (ssize_t)sizeof(place) ||
	    !place || place > GUARD_BLOCKS)
		return false;
	return space_read(target->space, entry_at(table, place - 1), &word, sizeof(word)) ==
		       (ssize_t)sizeof(word) &&
	       is_there(word) && read_block(target->space, table, place - 1, word, block) &&
	       is_on_run(block, address);
}

/* ---- what the program tells ----------------------------------------------------------------- */

/* As it was told: the process may have ended meanwhile. Of a block that somebody else is about to
 * free, who does so is noted only afterwards. */
static bool find_told(struct target *target, const struct area_hit *record,
		      struct guards_block *block)
{
	const struct guard_told *told = &record->block;

	if (!record->number || guard_address(told->word) != record->number)
		return false;
	if (guard_state(told->word) == GUARD_DYING &&
	    guards_at(target->program, target->pid, record->number, block) &&
	    block->record.serial == told->record.serial)
		return true;
	memcpy(&block->record, &told->record, sizeof(block->record));
	take_word(block, told->word);
	return true;
}

void guards_tell(struct target *target, const struct area_hit *record)
{
	struct tl_stack stack = hit_stack(record);
	struct tl_access from = {.size = sizeof(from),
				 .tid = record->tid,
				 .identity = record->identity,
				 .time = record->entry_time,
				 .pc = record->registers.pc,
				 .address = record->address,
				 .stack = record->registers.pc + 1 ? &stack : NULL};
	struct guards_notice notice = {.event = (enum guard_event)record->access,
				       .from = &from,
				       .address = record->address,
				       .offset = (int64_t)record->size,
				       .length = record->access_length};

	if (record->access < GUARD_BORN || record->access > GUARD_BROKEN_DEAD) {
		count_one(target->program, COUNT_HITS_STRANGE);
		return;
	}
	from.pid = target->pid;
	notice.known = find_told(target, record, &notice.block);
	target->program->notices->events->guard(target->program, &notice);
}

/* ---- what programs are asked ---------------------------------------------------------------- */

void guards_choose(struct program *program, const struct tl_guarding *guarding)
{
	struct guard_choice *choice = &program->area->guard;
	double loan = program->options.loan;

	choice->all |= guarding->all;
	choice->births |= guarding->births;
	if (guarding->pages && lethal_userfault())
		program->count[COUNT_PAGES_FORBIDDEN]++;
	else
		choice->pages |= guarding->pages;
	if (guarding->memory > choice->memory)
		choice->memory = guarding->memory;
	if (!choice->often || (guarding->often && guarding->often < choice->often))
		choice->often = guarding->often ? guarding->often : OFTEN_USUAL;
	if (guarding->all)
		choice->whole = guarding->whole ? guarding->whole : WHOLE_USUAL;
	choice->paged = PAGED_USUAL;
	choice->told = TOLD_USUAL;
	choice->loan = loan < 0 ? LOAN_USUAL : (uint64_t)(loan * SECOND / LOAN_PARTS);
	/* Half of the budget: the other half pays for what is watched. */
	choice->parts = (uint32_t)(program->options.budget * 50);
	if (choice->all)
		choice->parts = ALL_PARTS;
	if (!choice->parts)
		choice->parts = 1;
	atomic_store(&choice->on, 1);
}

int guards_always(struct program *program, pid_t pid, uint64_t caller, uint64_t above)
{
	struct target *target = target_find(program, pid);
	struct guard_process *guard = target ? &target->shared->guard : NULL;

	if (!guard || !caller)
		return guard ? -EINVAL : -ESRCH;
	for (unsigned i = 0; i < GUARD_CERTAIN; i++) {
		struct guard_context *context = &guard->certain[i];

		if (context->caller == caller && context->above == above)
			return 0;
		if (context->caller)
			continue;
		atomic_store(&context->above, above);
		atomic_store(&context->caller, caller);
		/* Release: whoever sees the change finds the context. */
		atomic_fetch_add(&guard->changed, 1);
		return 0;
	}
	return -EBUSY;
}

bool guards_are_interposed(const struct program *program, pid_t pid)
{
	const struct target *target = target_find(program, pid);

	return target && !target->entered && !target->observed && program->options.guard;
}
