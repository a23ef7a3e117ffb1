/* SPDX-License-Identifier: Apache-2.0 */
#include "record/held.h"

#include <stdatomic.h>

/* Acquire: what the thread wrote before publishing. Pairs with area_hit_publish(). */
static bool stands(const struct area_hit *record, uint32_t process, area_hit_is *is,
		   const void *wanted)
{
	uint64_t state = atomic_load_explicit(&record->state, memory_order_acquire);
	bool found = area_hit_state(state) == AREA_HIT_HELD && area_hit_owner(state) == process &&
		     is(record, wanted);

	/* Of the same use of the record. */
	atomic_thread_fence(memory_order_acquire);
	return found && atomic_load_explicit(&record->state, memory_order_relaxed) == state;
}

/* Whatever the caller has done, for the thread or by reading its memory, comes before the load of
 * the record's state that follows. Pairs with area_hit_leave(). */
static void complete_what_was_done(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

bool area_hit_is_held(const struct area_hit *record)
{
	complete_what_was_done();
	return area_hit_state(atomic_load(&record->state)) == AREA_HIT_HELD;
}

bool area_holds(const struct area *area, uint32_t process, area_hit_is *is, const void *wanted)
{
	complete_what_was_done();
	for (unsigned i = 0; i < AREA_HITS; i++)
		if (stands(&area->hit[i], process, is, wanted))
			return true;
	return false;
}
