/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freed blocks wait here, still the program's by the allocator's account, so that what touches them
 * touches nobody else's memory. There are two queues, one of blocks of contexts that allocate
 * seldom: those of a hot one would else drive them out in no time. Each has half of the room, in
 * which the first in is the first out. Any thread may be stopped anywhere (a signal handler frees,
 * too), so there is no lock: each place of the ring is taken by an exchange, and so each block
 * leaves once. Threads that race here let a block leave early or late.
 */
#include "guard/guard.h"

#include "base/uncounted.h"

#include <stddef.h>

#define BLOCKS_MOST (GUARD_BLOCKS / 2) /* which leaves places for blocks in use */
#define LEAVE_MOST 16u		       /* by one call: who frees a block pays for a few */

/* Blocks before one leaves: its record is fetched, and then its memory. */
#define FETCH_RECORD 8u
#define FETCH_BLOCK 4u
#define LINE 64u	  /* bytes */
#define FETCHED_MOST 256u /* of one block */

#define PART_OF_LIMIT \
	8u /* of what the program may have at all, the quarantine takes one of so many */

/* Bytes that the program limits itself to; 0: it does not. */
static _Atomic uint64_t program_limit;

static UNCOUNTED struct queue {
	_Atomic uint32_t ring[GUARD_BLOCKS]; /* place + 1; 0: none */
	_Atomic uint64_t head, tail;	     /* taken out, put in */
	_Atomic uint64_t bytes;
} often, seldom;
UNCOUNT(often);
UNCOUNT(seldom);

static struct queue *queue_of(uint32_t place)
{
	return guard_table.record[place].seldom ? &seldom : &often;
}

/* Its place in the ring stays: the next block that has its place in the table leaves early. */
bool quarantine_leave(uint32_t place, void (*left)(uint32_t place))
{
	if (!guard_change(place, GUARD_DEAD, GUARD_LEAVING))
		return false;
	atomic_fetch_sub_explicit(&queue_of(place)->bytes, block_cost(&guard_table.record[place]),
				  memory_order_relaxed);
	left(place);
	return true;
}

struct fill {
	uint64_t blocks, bytes;
};

static struct fill fill_of(const struct queue *queue)
{
	uint64_t first = atomic_load_explicit(&queue->head, memory_order_relaxed);
	uint64_t last = atomic_load_explicit(&queue->tail, memory_order_relaxed);

	return (struct fill){first < last ? last - first : 0,
			     atomic_load_explicit(&queue->bytes, memory_order_relaxed)};
}

/* From which one is to leave; NULL: there is room for all. */
static struct queue *too_full(uint64_t limit)
{
	struct fill a = fill_of(&often), b = fill_of(&seldom);

	if (a.bytes + b.bytes <= limit && a.blocks + b.blocks <= BLOCKS_MOST)
		return NULL;
	if (b.blocks && (b.bytes > limit / 2 || b.blocks > BLOCKS_MOST / 2) &&
	    a.bytes <= limit / 2 && a.blocks <= BLOCKS_MOST / 2)
		return &seldom;
	return a.blocks ? &often : b.blocks ? &seldom : NULL;
}

static void put(struct queue *queue, uint32_t place, void (*left)(uint32_t place))
{
	uint64_t at = atomic_fetch_add_explicit(&queue->tail, 1, memory_order_relaxed);
	uint32_t before = atomic_exchange_explicit(&queue->ring[at % GUARD_BLOCKS], place + 1,
						   memory_order_acq_rel);

	if (before)
		quarantine_leave(before - 1, left);
}

static void take_out(struct queue *queue, void (*left)(uint32_t place))
{
	uint64_t at = atomic_fetch_add_explicit(&queue->head, 1, memory_order_relaxed);
	uint32_t before =
		atomic_exchange_explicit(&queue->ring[at % GUARD_BLOCKS], 0, memory_order_acq_rel);

	if (before)
		quarantine_leave(before - 1, left);
}

static uint64_t limit_now(void)
{
	uint64_t limit = agent_state.area->guard.memory / 2;
	uint64_t programs = atomic_load_explicit(&program_limit, memory_order_relaxed);

	return programs && programs / PART_OF_LIMIT < limit ? programs / PART_OF_LIMIT : limit;
}

void quarantine_note_limit(uint64_t bytes)
{
	atomic_store_explicit(&program_limit, bytes, memory_order_relaxed);
}

void quarantine_limit(uint64_t bytes, void (*left)(uint32_t place))
{
	struct queue *full;

	quarantine_note_limit(bytes);
	for (unsigned i = 0; bytes && i < GUARD_BLOCKS && (full = too_full(limit_now())); i++)
		take_out(full, left);
}

static void fetch_words(uint64_t from, uint64_t length)
{
	for (uint64_t at = from; at < from + length && at < from + FETCHED_MOST; at += LINE)
		__builtin_prefetch((const void *)at);
}

/*
 * What leaves has been here for thousands of blocks: its record, its memory and its copy are in no
 * cache any more, and each miss would be waited for in turn. So they are fetched some turns before,
 * the record first, which tells where the others are. It may be another block's by now: an address
 * that is fetched may be any.
 */
static void fetch_ahead(const struct queue *queue)
{
	uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
	uint32_t far = atomic_load_explicit(&queue->ring[(head + FETCH_RECORD) % GUARD_BLOCKS],
					    memory_order_relaxed);
	uint32_t near = atomic_load_explicit(&queue->ring[(head + FETCH_BLOCK) % GUARD_BLOCKS],
					     memory_order_relaxed);
	const struct guard_record *record;

	if (far)
		fetch_words((uintptr_t)&guard_table.record[far - 1],
			    offsetof(struct guard_record, allocated));
	if (!near)
		return;
	record = &guard_table.record[near - 1];
	if (!record->run) /* empty pages are not looked at */
		fetch_words(record->raw, record->room);
	fetch_words(record->kept, record->kept ? record->size : 0);
}

bool quarantine_put(uint32_t place, void (*left)(uint32_t place))
{
	uint64_t cost = block_cost(&guard_table.record[place]);
	uint64_t limit = limit_now();
	struct queue *queue = queue_of(place), *full;

	if (cost > limit / 2)
		return false;
	atomic_fetch_add_explicit(&queue->bytes, cost, memory_order_relaxed);
	put(queue, place, left);
	for (unsigned i = 0; i < LEAVE_MOST && (full = too_full(limit)); i++)
		take_out(full, left);
	fetch_ahead(queue);
	return true;
}
