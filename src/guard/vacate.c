/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freed blocks make way for what the program maps. An allocator unmaps a block of many pages as it
 * is freed, so without us a program may map memory of its own there (MAP_FIXED). A block that still
 * lies there, since it is in the quarantine, leaves that first: what is there afterwards is the
 * program's, and the allocator is not given it later.
 *
 * Freed blocks of at least a page are counted by granules of address space, so that who maps
 * elsewhere looks at a counter or a few. Two granules that hash alike share one.
 */
#include "guard/guard.h"

#include "guard/limit.h"
#include "guard/pages.h"

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

void vacate_note(uint64_t from, uint64_t length, int by)
{
	struct granules within = granules_of(from, length);

	for (uint64_t i = 0; i < within.count; i++)
		atomic_fetch_add_explicit(&freed[(within.first + i) % GRANULES], (uint16_t)by,
					  memory_order_relaxed);
}

static bool is_noted(uint64_t from, uint64_t length)
{
	struct granules within = granules_of(from, length);

	for (uint64_t i = 0; i < within.count; i++)
		if (atomic_load_explicit(&freed[(within.first + i) % GRANULES],
					 memory_order_relaxed))
			return true;
	return false;
}

void vacate(uint64_t from, uint64_t length)
{
	bool on_pages = pages_include(from, length);

	if (!length || from + length < from || (!on_pages && !is_noted(from, length)) ||
	    !limit_may_free())
		return;
	/* Of the pages that are mapped over none is ever to be a block's again. */
	if (on_pages)
		release_room();
	release_range(from, from + length);
}
