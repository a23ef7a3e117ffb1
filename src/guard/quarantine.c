/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freed blocks wait here, still the program's by the allocator's account, so that what touches them
 * touches nobody else's memory. The first in is the first out. Any thread may be stopped anywhere
 * (a signal handler frees, too), so there is no lock: each place of the ring is taken by an
 * exchange, and so each block leaves once. Threads that race here let a block leave early or late.
 */
#include "guard/guard.h"

#define BLOCKS_MOST (GUARD_BLOCKS / 2) /* which leaves places for blocks in use */
#define LEAVE_MOST 16u		       /* by one call: who frees a block pays for a few */

static _Atomic uint32_t ring[GUARD_BLOCKS]; /* place + 1; 0: none */
static _Atomic uint64_t head, tail;	    /* taken out, put in */
static _Atomic uint64_t bytes;

/* Its place in the ring stays: the next block that has its place in the table leaves early. */
bool quarantine_leave(uint32_t place, void (*left)(uint32_t place))
{
	if (!guard_change(place, GUARD_DEAD, GUARD_LEAVING))
		return false;
	atomic_fetch_sub_explicit(&bytes, block_cost(&guard_table.record[place]),
				  memory_order_relaxed);
	left(place);
	return true;
}

static bool is_too_much(uint64_t limit)
{
	uint64_t first = atomic_load_explicit(&head, memory_order_relaxed);
	uint64_t last = atomic_load_explicit(&tail, memory_order_relaxed);

	return first < last && (atomic_load_explicit(&bytes, memory_order_relaxed) > limit ||
				last - first > BLOCKS_MOST);
}

bool quarantine_put(uint32_t place, void (*left)(uint32_t place))
{
	uint64_t cost = block_cost(&guard_table.record[place]);
	uint64_t limit = agent_state.area->guard.memory / 2;
	uint32_t before;
	uint64_t at;

	if (cost > limit / 2)
		return false;
	atomic_fetch_add_explicit(&bytes, cost, memory_order_relaxed);
	at = atomic_fetch_add_explicit(&tail, 1, memory_order_relaxed);
	before =
		atomic_exchange_explicit(&ring[at % GUARD_BLOCKS], place + 1, memory_order_acq_rel);
	if (before)
		quarantine_leave(before - 1, left);
	for (unsigned i = 0; i < LEAVE_MOST && is_too_much(limit); i++) {
		at = atomic_fetch_add_explicit(&head, 1, memory_order_relaxed);
		before =
			atomic_exchange_explicit(&ring[at % GUARD_BLOCKS], 0, memory_order_acq_rel);
		if (before)
			quarantine_leave(before - 1, left);
	}
	return true;
}
