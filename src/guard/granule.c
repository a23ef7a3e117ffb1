/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where freed blocks of at least a page lie: counted by granules of address space, so that who maps
 * memory elsewhere looks at a counter or a few. Two granules that hash alike share one.
 */
#include "guard/guard.h"

#define GRANULE (64u << 10) /* bytes */
#define GRANULES 4096u	    /* a power of two */

static _Atomic uint16_t freed[GRANULES];

struct granules {
	uint64_t first, count;
};

static struct granules granules_of(uint64_t from, uint64_t length)
{
	struct granules within = {from / GRANULE, 0};

	within.count = (from + length - 1) / GRANULE - within.first + 1;
	if (within.count > GRANULES)
		within.count = GRANULES;
	return within;
}

void granule_note(uint64_t from, uint64_t length, int by)
{
	struct granules within = granules_of(from, length);

	for (uint64_t i = 0; i < within.count; i++)
		atomic_fetch_add_explicit(&freed[(within.first + i) % GRANULES], (uint16_t)by,
					  memory_order_relaxed);
}

bool granule_is_noted(uint64_t from, uint64_t length)
{
	struct granules within = granules_of(from, length);

	for (uint64_t i = 0; i < within.count; i++)
		if (atomic_load_explicit(&freed[(within.first + i) % GRANULES],
					 memory_order_relaxed))
			return true;
	return false;
}
