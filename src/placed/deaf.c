/* SPDX-License-Identifier: Apache-2.0 */
#include "placed/deaf.h"

#include <stdatomic.h>

/*
 * Had it taken all the hits that it takes? Those that were told say when it had. Of those of which
 * no record was kept nobody knows which watch they came to: each of the process's that was dropped
 * since the watch began, and until then, may have been one of this watch's.
 */
static bool is_spent(const struct target *target, const struct slot *slot, uint64_t dropped)
{
	uint32_t missing = (uint32_t)(dropped - slot->dropped);

	if (slot->seen >= slot->watch.hits)
		return true;
	return missing &&
	       atomic_load(&target->shared->slot[slot->index].hits) >= slot->watch.hits &&
	       slot->seen + missing >= slot->watch.hits;
}

static bool has_deaf(const struct target *target, const struct slot *hit, uint64_t entry_time,
		     uint64_t dropped)
{
	for (unsigned i = target->slots; i < target->slots + target->placed; i++) {
		const struct slot *slot = &target->slot[i];

		if (slot == hit || slot->owner != hit->owner)
			continue;
		if (slot->armed ? is_spent(target, slot, dropped) : entry_time >= slot->silenced_at)
			return true;
	}
	return false;
}

/* How many of the process's hits had been dropped when that one was made; of another process's it
 * is not known, and all that were count. */
static uint64_t dropped_until(const struct target *target, const struct area_hit *record, bool own)
{
	return own && !(record->flags & AREA_HIT_LOSS) ? record->lost
						       : atomic_load(&target->shared->dropped);
}

bool placed_is_deaf(const struct program *program, const struct slot *hit,
		    const struct area_hit *record)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = program->target[i];

		if (target && has_deaf(target, hit, record->entry_time,
				       dropped_until(target, record, i == record->process)))
			return true;
	}
	return false;
}
