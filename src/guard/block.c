/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/guard.h"

#include "agent/allocator.h"
#include "base/syscall.h"
#include "guard/pages.h"

#include <string.h>
#include <sys/auxv.h>

#define BACK_LEAST 8u
/* What follows a whole number of these is where glibc's next chunk begins: no byte is wasted. */
#define BACK_GRAIN 16u
#define BACK_REST 8u
#define ALIGNMENT_MOST 4096u
#define SIZE_MOST (1ull << 40)
/* Of a block on empty pages, which takes a place among GUARD_BLOCKS. */
#define RUN_COST 2048u
#define CHUNK 256u /* bytes looked at at a time, on the stack */

static _Atomic uint64_t serials;

/* ---- patterns ------------------------------------------------------------------------------- */

/* Of the aligned word at `address`: nothing that the program has elsewhere is the same. */
static uint64_t pattern_word(uint64_t address)
{
	static uint64_t secret;
	uint64_t word;

	if (!secret) {
		const void *random = (const void *)getauxval(AT_RANDOM);

		if (random)
			memcpy(&secret, random, sizeof(secret));
		secret |= 1;
	}
	word = (address ^ secret) * 0xbf58476d1ce4e5b9ull;
	return word ^ word >> 31;
}

static uint8_t pattern_byte(uint64_t address)
{
	return (uint8_t)(pattern_word(address & ~7ull) >> 8 * (address & 7));
}

static void pattern_fill(uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		*(uint8_t *)from = pattern_byte(from);
}

/* As the program would read them, without the touch of it that would trip what is watched. */
static size_t peek(void *to, uint64_t from, size_t length)
{
	ssize_t count = guard_is_quiet() ? -1 : raw_read_memory(raw_getpid(), to, from, length);

	if (count >= 0)
		return (size_t)count;
	memcpy(to, (const void *)from, length);
	return length;
}

static void note_damage(struct block_damage *damage, int64_t offset)
{
	if (!damage->length)
		damage->offset = offset;
	damage->length = (uint32_t)(offset - damage->offset + 1);
}

/* `expected`: the bytes that are to be there; NULL: the pattern. */
static struct block_damage compare(uint64_t block, uint64_t from, uint64_t to,
				   const uint8_t *expected)
{
	struct block_damage damage = {0};
	uint8_t seen[CHUNK];

	for (uint64_t at = from; at < to; at += CHUNK) {
		size_t length = to - at < CHUNK ? to - at : CHUNK;
		size_t got = peek(seen, at, length);

		if (expected && memcmp(seen, expected + (at - from), got) == 0)
			continue;
		for (size_t i = 0; i < got; i++)
			if (seen[i] != (expected ? expected[at - from + i] : pattern_byte(at + i)))
				note_damage(&damage, (int64_t)(at + i - block));
	}
	return damage;
}

struct block_damage block_check_front(uint64_t address)
{
	/* Of a block with a large alignment only what is near: the rest was never filled. */
	return compare(address, address - GUARD_ALIGNMENT, address, NULL);
}

struct block_damage block_check_back(const struct guard_record *record, uint64_t address)
{
	return compare(address, address + record->size, record->raw + record->room, NULL);
}

static uint64_t kept_length(const struct guard_record *record)
{
	return record->size < GUARD_KEPT ? record->size : GUARD_KEPT;
}

struct block_damage block_check_kept(const struct guard_record *record, uint64_t address)
{
	struct block_damage none = {0};

	/* An empty page is not looked at. */
	return record->kept && !record->run
		       ? compare(address, address, address + kept_length(record),
				 (const uint8_t *)record->kept)
		       : none;
}

void block_repair(const struct guard_record *record, uint64_t address)
{
	pattern_fill(address - GUARD_ALIGNMENT, address);
	pattern_fill(address + record->size, record->raw + record->room);
}

void block_keep(struct guard_record *record, uint64_t address)
{
	uint64_t length = kept_length(record);
	void *copy = length ? allocator.malloc(length) : NULL;

	if (copy)
		peek(copy, address, length);
	record->kept = (uintptr_t)copy;
}

/* ---- life ----------------------------------------------------------------------------------- */

uint64_t block_cost(const struct guard_record *record)
{
	uint64_t kept = record->kept ? kept_length(record) : 0;

	if (record->run)
		return kept > RUN_COST ? kept : RUN_COST;
	return record->room + kept;
}

void block_give_back(const struct block_ground *ground, uint64_t kept)
{
	if (ground->run)
		pages_give_back(ground->run, ground->pages);
	else
		allocator.free((void *)ground->raw);
	if (kept)
		allocator.free((void *)kept);
}

static void *allocate(const struct guard_wish *wish, size_t room)
{
	if (wish->alignment > GUARD_ALIGNMENT)
		return allocator.memalign ? allocator.memalign(wish->alignment, room) : NULL;
	return wish->zeroed ? allocator.calloc(1, room) : allocator.malloc(room);
}

/* The block ends where its last page does. */
static bool stand_on_pages(const struct guard_wish *wish, struct block_ground *ground)
{
	size_t size = (wish->size + GUARD_ALIGNMENT - 1) & ~(size_t)(GUARD_ALIGNMENT - 1);

	if (!wish->pages || wish->alignment > GUARD_ALIGNMENT)
		return false;
	/* Some programs use what malloc_usable_size() says that an empty block has. */
	if (!size)
		size = GUARD_ALIGNMENT;
	ground->room = GUARD_ALIGNMENT + size;
	ground->run = pages_take(ground->room, &ground->pages);
	if (!ground->run)
		return false;
	ground->address = ground->run + (uint64_t)ground->pages * GUARD_PAGE - size;
	ground->raw = ground->address - GUARD_ALIGNMENT;
	return true;
}

static bool stand_on_allocation(const struct guard_wish *wish, struct block_ground *ground)
{
	size_t front = wish->alignment > GUARD_ALIGNMENT ? wish->alignment : GUARD_ALIGNMENT;

	if (front > ALIGNMENT_MOST)
		return false;
	ground->room = front + wish->size + BACK_LEAST;
	ground->room += (BACK_REST - ground->room) % BACK_GRAIN;
	ground->raw = (uintptr_t)allocate(wish, ground->room);
	ground->address = ground->raw + front;
	return ground->raw;
}

static void record_block(uint32_t place, const struct block_ground *ground,
			 const struct guard_wish *wish, const struct allocation_caller *caller)
{
	struct guard_record *record = &guard_table.record[place];

	record->size = wish->size;
	record->raw = ground->raw;
	record->room = ground->room;
	record->run = ground->run;
	record->pages = ground->pages;
	record->context = wish->context;
	record->kept = 0;
	record->family = wish->family;
	record->zeroed = wish->zeroed;
	record->told = 0;
	record->freed.time = 0;
	allocation_note_event(&record->allocated, caller, agent_now());
	record->checked = record->allocated.time;
	atomic_store_explicit(&record->serial,
			      atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static void tell_birth(const struct area_process *process, uint32_t place, uint64_t address,
		       struct allocation_caller caller)
{
	struct agent_guard_notice notice = {
		.event = GUARD_BORN, .address = address, .block = address};

	if (tell_event(&notice, caller))
		guard_table.record[place].told = process->pid;
}

static uint32_t find_place(const struct guard_wish *wish, uint64_t address)
{
	uint32_t place = guard_claim(address);

	return place == GUARD_NOWHERE && wish->make_place(address) ? guard_claim(address) : place;
}

void *block_make(const struct guard_wish *wish, struct allocation_caller caller)
{
	struct area_process *process = agent_state.process;
	struct block_ground ground = {0};
	uint32_t place;

	if (!process || wish->size > SIZE_MOST)
		return NULL;
	if (!stand_on_pages(wish, &ground) && !stand_on_allocation(wish, &ground)) {
		atomic_fetch_add_explicit(&process->guard.refused, 1, memory_order_relaxed);
		return NULL;
	}
	place = ground.address % GUARD_ALIGNMENT ? GUARD_NOWHERE : find_place(wish, ground.address);
	if (place == GUARD_NOWHERE) {
		atomic_fetch_add_explicit(&process->guard.crowded, 1, memory_order_relaxed);
		if (ground.run)
			pages_empty(ground.run, ground.pages);
		block_give_back(&ground, 0);
		return NULL;
	}
	if (ground.run)
		pages_own(ground.run, ground.pages, place);
	record_block(place, &ground, wish, &caller);
	block_repair(&guard_table.record[place], ground.address);
	atomic_store_explicit(&process->guard.table, (uintptr_t)&guard_table, memory_order_relaxed);
	guard_change(place, GUARD_BUSY, GUARD_LIVE);
	atomic_fetch_add_explicit(&process->guard.chosen, 1, memory_order_relaxed);
	if (wish->told)
		tell_birth(process, place, ground.address, caller);
	return (void *)ground.address;
}
