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

#define BLOCKS_MOST (GUARD_BLOCKS / 2) /* which leaves places for blocks in use */
#define LEAVE_MOST 16u		       /* by one call: who frees a block pays for a few */

#define PART_OF_LIMIT \
	8u /* of what the program may have at all, the quarantine takes one of so many */

/* Bytes that the program limits itself to; 0: it does not. */
static _Atomic uint64_t program_limit;

static struct queue {
	_Atomic uint32_t ring[GUARD_BLOCKS]; /* place + 1; 0: none */
	_Atomic uint64_t head, tail;	     /* taken out, put in */
	_Atomic uint64_t bytes;
} often, seldom;

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
	return true;
}
