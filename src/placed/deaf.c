/* SPDX-License-Identifier: Apache-2.0 */
#include "placed/deaf.h"

#include <stdatomic.h>

/*
 * Has it taken all the hits that it takes? Those that were told say when it had; of those of which
 * no record was kept nobody knows when they came.
 */
static bool is_spent(const struct target *target, const struct slot *slot)
{
	const struct area_process *shared = target->shared;

	if (slot->seen >= slot->watch.hits)
		return true;
	return atomic_load(&shared->dropped) != (uint32_t)slot->dropped &&
	       atomic_load(&shared->slot[slot->index].hits) >= slot->watch.hits;
}

static bool has_deaf(const struct target *target, const struct slot *hit, uint64_t entry_time)
{
	for (unsigned i = target->slots; i < target->slots + target->placed; i++) {
		const struct slot *slot = &target->slot[i];

		if (slot == hit || slot->owner != hit->owner)
			continue;
		if (slot->armed ? is_spent(target, slot) : entry_time >= slot->silenced_at)
			return true;
	}
	return false;
}

bool placed_is_deaf(const struct program *program, const struct slot *hit, uint64_t entry_time)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (program->target[i] && has_deaf(program->target[i], hit, entry_time))
			return true;
	return false;
}
