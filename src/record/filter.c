/* SPDX-License-Identifier: Apache-2.0 */
#include "record/filter.h"

#include <errno.h>
#include <stdatomic.h>

_Static_assert((FILTER_PLACES & (FILTER_PLACES - 1)) == 0, "place_at() masks");

static struct filter_place *place_at(struct filter_process *process, uint64_t key, unsigned probe)
{
	uint64_t hash = ((key & ~FILTER_UNWANTED) * 0x9e3779b97f4a7c15ull) >> 40;

	return &process->place[(hash + probe) & (FILTER_PLACES - 1)];
}

struct filter_place *filter_place_find(struct filter_process *process, uint64_t pc, unsigned slot)
{
	uint64_t wanted = filter_place_key(pc, slot, false);

	for (unsigned probe = 0; probe < FILTER_PROBES; probe++) {
		struct filter_place *place = place_at(process, wanted, probe);
		/* Acquire: its count was cleared before. Pairs with filter_place_teach(). */
		uint64_t key = atomic_load_explicit(&place->key, memory_order_acquire);

		if ((key & ~FILTER_UNWANTED) == wanted)
			return place;
	}
	return NULL;
}

int filter_place_teach(struct filter_process *process, uint64_t pc, unsigned slot, bool unwanted)
{
	uint64_t key = filter_place_key(pc, slot, unwanted);

	if (filter_place_find(process, pc, slot))
		return -EEXIST;
	for (unsigned probe = 0; probe < FILTER_PROBES; probe++) {
		struct filter_place *place = place_at(process, key, probe);

		if (atomic_load_explicit(&place->key, memory_order_relaxed))
			continue;
		atomic_store_explicit(&place->count, 0, memory_order_relaxed);
		atomic_store_explicit(&place->sent, 1, memory_order_relaxed);
		atomic_store_explicit(&place->key, key, memory_order_release);
		return (int)(place - process->place);
	}
	return -ENOSPC;
}
