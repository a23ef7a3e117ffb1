/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/guard.h"

#include "agent/arch.h"
#include "allocation/allocator.h"
#include "allocation/watched.h"
#include "base/syscall.h"
#include "guard/pages.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>

#define BACK_LEAST 8u
/* glibc's next chunk begins behind a multiple of this, so the pattern reaches up to there and no
 * byte is wasted. */
#define BACK_GRAIN 16u
#define BACK_REST 8u
#define ALIGNMENT_MOST 4096u
/* What a freed block on empty pages counts as in the quarantine, in bytes: it keeps no memory, but
 * takes a place among GUARD_BLOCKS. */
#define RUN_COST 2048u
#define CROWD_ROW 3u	  /* blocks in a row without a place */
#define CROWD_PASS 15u	  /* blocks after these that are not tried */
#define COPY_SHORTLY 128u /* bytes */
#define CHUNK 256u	  /* bytes looked at at a time, on the stack */
#define BACK_MOST 64u	  /* of a pattern that is looked at together with the rest */
/* Pattern bytes before a block on pages of its own, if its first page has room for them anyway.
 * More would not help: an access one element before the block jumps over them where the element is
 * large. */
#define FRONT_MOST 64u

static _Atomic uint64_t serials;

/* ---- patterns ------------------------------------------------------------------------------- */

/* The pattern of the aligned word at `address`, which is unlikely to occur in the program's own
 * data. */
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

/* Writes to `piece` the pattern from `address` to the end of its aligned word, `most` bytes at
 * most. Returns how many. */
static size_t pattern_piece(uint64_t address, size_t most, uint64_t *piece)
{
	size_t length = 8 - (address & 7);

	*piece = pattern_word(address & ~7ull) >> 8 * (address & 7);
	return length < most ? length : most;
}

static void pattern_fill(uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t piece;
		size_t length = pattern_piece(from, to - from, &piece);

		if (length == sizeof(piece))
			memcpy((void *)from, &piece, sizeof(piece));
		else
			for (size_t i = 0; i < length; i++)
				((uint8_t *)from)[i] = (uint8_t)(piece >> 8 * i);
		from += length;
	}
}

/* Copied by code of our own and not by libc's functions, where samples would be taken for the
 * program's own accesses. The barriers keep the compiler from turning the loop into a call. */
static void copy_shortly(uint8_t *to, const uint8_t *from, size_t length)
{
	uint64_t word;

	for (; length >= sizeof(word); length -= sizeof(word)) {
		__builtin_memcpy(&word, from, sizeof(word));
		__builtin_memcpy(to, &word, sizeof(word));
		from += sizeof(word);
		to += sizeof(word);
		__asm__ volatile("" : : : "memory");
	}
	while (length-- > 0) {
		*to++ = *from++;
		__asm__ volatile("" : : : "memory");
	}
}

/* A string instruction takes as long to begin as a dozen words take to copy. */
static void copy(void *to, const void *from, size_t length)
{
	if (length <= COPY_SHORTLY)
		copy_shortly(to, from, length);
	else
		agent_arch.copy(to, from, length);
}

/* Is any byte from the first place to the last watched? The block lies between them, and where it
 * is watched, they may be as well. */
static bool is_watched(const struct iovec *part, unsigned count)
{
	uint64_t from = UINT64_MAX, to = 0;

	for (unsigned i = 0; i < count; i++) {
		uint64_t start = (uintptr_t)part[i].iov_base, end = start + part[i].iov_len;

		from = start < from ? start : from;
		to = end > to ? end : to;
	}
	return agent_is_watched(from, to);
}

/* How memory may be read that the program can unmap or protect. */
enum peek {
	PEEK_PLAIN,   /* directly: the program cannot have put it out of reach */
	PEEK_CAREFUL, /* by the kernel, or directly where a filter may forbid that call */
	PEEK_FOREIGN, /* by the kernel or not at all, since another thread may unmap it meanwhile */
};

/* Reads several places without tripping a watch on them. */
static size_t peek_all(const struct iovec *to, const struct iovec *from, unsigned count,
		       enum peek how)
{
	size_t all = 0;
	long got = -1;

	if (!guard_is_quiet() && (how != PEEK_PLAIN || is_watched(from, count)))
		got = raw_read_pieces(to, from, count);
	if (got >= 0)
		return (size_t)got;
	if (got == -EFAULT || how == PEEK_FOREIGN)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		copy(to[i].iov_base, from[i].iov_base, from[i].iov_len);
		all += from[i].iov_len;
	}
	return all;
}

static size_t peek(void *to, uint64_t from, size_t length, enum peek how)
{
	struct iovec here = {to, length}, there = {(void *)from, length};

	return peek_all(&here, &there, 1, how);
}

/* How to read a block: one that holds whole pages the program may have protected (mprotect(2)). */
static enum peek peek_of(const struct guard_record *record)
{
	return record->size < GUARD_PAGE ? PEEK_PLAIN : PEEK_CAREFUL;
}

static void note_damage(struct block_damage *damage, int64_t offset)
{
	if (!damage->length)
		damage->offset = offset;
	damage->length = (uint32_t)(offset - damage->offset + 1);
}

/* Adds to `damage` what of `seen`, which the memory at `from` holds, is not the pattern. */
static void compare_pattern(struct block_damage *damage, uint64_t block, uint64_t from,
			    const uint8_t *seen, size_t length)
{
	for (size_t at = 0, step; at < length; at += step) {
		uint64_t piece;

		step = pattern_piece(from + at, length - at, &piece);
		if (step == sizeof(piece) && memcmp(seen + at, &piece, sizeof(piece)) == 0)
			continue;
		for (size_t i = 0; i < step; i++)
			if (seen[at + i] != (uint8_t)(piece >> 8 * i))
				note_damage(damage, (int64_t)(from + at + i - block));
	}
}

/* The same, where `expected` is to stand there; NULL: the pattern is. */
static void compare_seen(struct block_damage *damage, uint64_t block, uint64_t from,
			 const uint8_t *seen, size_t length, const uint8_t *expected)
{
	if (!expected) {
		compare_pattern(damage, block, from, seen, length);
		return;
	}
	if (memcmp(seen, expected, length) == 0)
		return;
	for (size_t i = 0; i < length; i++)
		if (seen[i] != expected[i])
			note_damage(damage, (int64_t)(from + i - block));
}

static struct block_damage compare(uint64_t block, uint64_t from, uint64_t to,
				   const uint8_t *expected, enum peek how)
{
	struct block_damage damage = {0};
	uint8_t seen[CHUNK];

	for (uint64_t at = from; at < to; at += CHUNK) {
		size_t length = to - at < CHUNK ? to - at : CHUNK;
		size_t got = peek(seen, at, length, how);

		compare_seen(&damage, block, at, seen, got,
			     expected ? expected + (at - from) : NULL);
	}
	return damage;
}

static uint64_t kept_length(const struct guard_record *record)
{
	return record->size < GUARD_KEPT ? record->size : GUARD_KEPT;
}

/* Bytes before the block that carry the pattern. Before a block with a large alignment only those
 * near it do. */
static uint64_t front_length(const struct guard_record *record, uint64_t address)
{
	return record->run ? address - record->raw : GUARD_ALIGNMENT;
}

/* Bytes behind the block that carry the pattern. */
static uint64_t back_length(const struct guard_record *record, uint64_t address)
{
	return record->raw + record->room - address - record->size;
}

/* Checks both patterns with one read, which also fills `block` with as much of the block as fits.
 * False: they have to be checked one by one. */
static bool check_at_once(const struct guard_record *record, uint64_t address, void *block,
			  size_t length, enum peek how, struct block_damages *found)
{
	uint8_t front[FRONT_MOST], back[BACK_MOST];
	uint64_t before = front_length(record, address), behind = back_length(record, address);
	const struct iovec to[] = {{front, before}, {back, behind}, {block, length}};
	const struct iovec from[] = {{(void *)(address - before), before},
				     {(void *)(address + record->size), behind},
				     {(void *)address, length}};

	if (before > FRONT_MOST || behind > BACK_MOST ||
	    peek_all(to, from, length ? 3 : 2, how) != before + behind + length)
		return false;
	compare_seen(&found->front, address, address - before, front, before, NULL);
	compare_seen(&found->back, address, address + record->size, back, behind, NULL);
	return true;
}

static void check_one_by_one(const struct guard_record *record, uint64_t address, enum peek how,
			     struct block_damages *found)
{
	uint64_t end = address + record->size;

	found->front =
		compare(address, address - front_length(record, address), address, NULL, how);
	found->back = compare(address, end, end + back_length(record, address), NULL, how);
}

struct block_damages block_check(const struct guard_record *record, uint64_t address, bool alone)
{
	enum peek how = alone ? peek_of(record) : PEEK_FOREIGN;
	struct block_damages found = {0};

	if (!check_at_once(record, address, NULL, 0, how, &found))
		check_one_by_one(record, address, how, &found);
	return found;
}

struct block_damages block_check_and_keep(struct guard_record *record, uint64_t address)
{
	enum peek how = peek_of(record);
	struct block_damages found = {0};
	uint64_t length = kept_length(record);
	void *copy = length ? allocator.malloc(length) : NULL;

	if (!check_at_once(record, address, copy, copy ? length : 0, how, &found)) {
		check_one_by_one(record, address, how, &found);
		if (copy)
			peek(copy, address, length, how);
	}
	record->kept = (uintptr_t)copy;
	return found;
}

struct block_damages block_check_dead(const struct guard_record *record, uint64_t address)
{
	enum peek how = peek_of(record);
	struct block_damages found = {0};
	uint64_t length = record->kept ? kept_length(record) : 0;
	const uint8_t *expected = (const uint8_t *)record->kept;
	uint8_t seen[CHUNK];

	/* Empty pages hold nothing to be checked. */
	if (record->run)
		return found;
	if (length <= CHUNK && check_at_once(record, address, seen, length, how, &found)) {
		compare_seen(&found.block, address, address, seen, length, expected);
		return found;
	}
	check_one_by_one(record, address, how, &found);
	if (length)
		found.block = compare(address, address, address + length, expected, how);
	return found;
}

void block_repair(const struct guard_record *record, uint64_t address)
{
	pattern_fill(address - front_length(record, address), address);
	pattern_fill(address + record->size, record->raw + record->room);
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

/* Places the block so that it ends where its last page does. */
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
	ground->room = (size_t)ground->pages * GUARD_PAGE;
	if (ground->room > size + FRONT_MOST)
		ground->room = size + FRONT_MOST;
	ground->address = ground->run + (uint64_t)ground->pages * GUARD_PAGE - size;
	ground->raw = ground->address + size - ground->room;
	return true;
}

/* How many bytes to ask the allocator for. */
static size_t room_for(size_t front, size_t size)
{
	size_t room = front + size + BACK_LEAST;

	return room + (BACK_REST - room) % BACK_GRAIN;
}

/* Places the block at the start of its pages, behind an empty one. The pages have to be filled for
 * this one block, which takes as long as to tell of its birth. */
static bool stand_behind_page(const struct guard_wish *wish, struct block_ground *ground)
{
	if (!wish->behind || !wish->told || !wish->pages || wish->alignment > GUARD_PAGE)
		return false;
	ground->run = pages_take(GUARD_PAGE + wish->size + BACK_LEAST, &ground->pages);
	if (!ground->run)
		return false;
	pages_shut(ground->run);
	ground->address = ground->raw = ground->run + GUARD_PAGE;
	ground->room = (ground->pages - 1ull) * GUARD_PAGE;
	if (ground->room > wish->size + BACK_MOST)
		ground->room = wish->size + BACK_MOST;
	return true;
}

static bool stand_on_allocation(const struct guard_wish *wish, struct block_ground *ground)
{
	size_t front = wish->alignment > GUARD_ALIGNMENT ? wish->alignment : GUARD_ALIGNMENT;

	if (front > ALIGNMENT_MOST)
		return false;
	ground->room = room_for(front, wish->size);
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
	record->seldom = wish->seldom;
	record->unkept = wish->unkept;
	record->context = wish->context;
	record->kept = 0;
	record->family = wish->family;
	record->zeroed = wish->zeroed;
	record->copied = wish->copied;
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

/*
 * Where the table is nearly full of live blocks each try costs an allocation for nothing. After
 * CROWD_ROW blocks in a row without a place CROWD_PASS are not tried.
 */
static __thread struct {
	uint32_t in_row, pass;
} crowd __attribute__((tls_model("initial-exec")));

static bool is_passed(const struct guard_wish *wish)
{
	if (wish->told || wish->pages || !crowd.pass)
		return false;
	crowd.pass--;
	return true;
}

static void note_crowd(bool crowded)
{
	crowd.in_row = crowded ? crowd.in_row + 1 : 0;
	if (crowd.in_row > CROWD_ROW)
		crowd.pass = CROWD_PASS;
}

static void make_live(struct area_process *process, uint32_t place,
		      const struct block_ground *ground, const struct guard_wish *wish,
		      const struct allocation_caller *caller)
{
	record_block(place, ground, wish, caller);
	block_repair(&guard_table.record[place], ground->address);
	atomic_store_explicit(&process->guard.table, (uintptr_t)&guard_table, memory_order_relaxed);
	guard_change(place, GUARD_BUSY, GUARD_LIVE);
	atomic_fetch_add_explicit(&process->guard.chosen, 1, memory_order_relaxed);
}

uint32_t block_make(const struct guard_wish *wish, struct allocation_caller caller)
{
	struct area_process *process = agent_state.process;
	struct block_ground ground = {0};
	uint32_t place;

	if (!process || wish->size > GUARD_SIZE_MOST)
		return GUARD_NOWHERE;
	if (is_passed(wish)) {
		atomic_fetch_add_explicit(&process->guard.crowded, 1, memory_order_relaxed);
		return GUARD_NOWHERE;
	}
	if (!stand_behind_page(wish, &ground) && !stand_on_pages(wish, &ground) &&
	    !stand_on_allocation(wish, &ground)) {
		atomic_fetch_add_explicit(&process->guard.refused, 1, memory_order_relaxed);
		return GUARD_NOWHERE;
	}
	place = ground.address % GUARD_ALIGNMENT ? GUARD_NOWHERE : find_place(wish, ground.address);
	note_crowd(place == GUARD_NOWHERE);
	if (place == GUARD_NOWHERE) {
		atomic_fetch_add_explicit(&process->guard.crowded, 1, memory_order_relaxed);
		if (ground.run)
			pages_empty(ground.run, ground.pages);
		block_give_back(&ground, 0);
		return GUARD_NOWHERE;
	}
	if (ground.run)
		pages_own(ground.run, ground.pages, place);
	make_live(process, place, &ground, wish, &caller);
	if (wish->told)
		tell_birth(process, place, ground.address, caller);
	return place;
}

void *block_move(uint32_t place, uint64_t address, size_t size, struct allocation_caller caller,
		 bool (*make_place)(uint64_t address))
{
	const struct guard_record *record = &guard_table.record[place];
	const struct guard_wish wish = {.size = size,
					.seldom = record->seldom,
					.unkept = record->unkept,
					.context = record->context,
					.make_place = make_place};
	struct area_process *process = agent_state.process;
	size_t front = address - record->raw, old = record->size;
	struct block_ground ground = {.room = room_for(front, size)};

	ground.raw = (uintptr_t)allocator.realloc((void *)record->raw, ground.room);
	if (!ground.raw)
		return NULL;
	ground.address = ground.raw + front;
	guard_drop_hidden(place);
	place = process && ground.address % GUARD_ALIGNMENT == 0 ? find_place(&wish, ground.address)
								 : GUARD_NOWHERE;
	if (place != GUARD_NOWHERE) {
		make_live(process, place, &ground, &wish, &caller);
		return (void *)ground.address;
	}
	/* Without a place in the table nothing is known of it: it becomes an ordinary block. */
	if (process)
		atomic_fetch_add_explicit(&process->guard.crowded, 1, memory_order_relaxed);
	return memmove((void *)ground.raw, (void *)ground.address, old < size ? old : size);
}
