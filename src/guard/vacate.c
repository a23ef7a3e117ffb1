/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freed blocks make way for what the program maps. An allocator unmaps a block of many pages as it
 * is freed, so without us a program may map memory of its own there (MAP_FIXED). A block that still
 * lies there, since it is in the quarantine, leaves that first: what is there afterwards is the
 * program's, and the allocator is not given it later. Where the allocator may not be called
 * (limit_may_free()) the block leaves, too, and its memory is lost to it.
 *
 * Accepted: a block that is LEAVING just then, by another thread that frees, may be given to the
 * allocator only after the program's memory is there, which the allocator then unmaps or reads.
 * Nobody waits for that thread: it may be stopped, or be the one that a handler has interrupted.
 */
#include "guard/guard.h"

#include "guard/limit.h"
#include "guard/pages.h"

void vacate(uint64_t from, uint64_t length)
{
	bool on_pages = pages_include(from, length), may_free;

	if (!length || from + length < from || (!on_pages && !granule_is_noted(from, length)))
		return;
	may_free = limit_may_free();
	/* Of the pages that are mapped over none is ever to be a block's again. */
	if (on_pages && may_free)
		release_room();
	else if (on_pages)
		pages_forgo();
	release_range(from, from + length, may_free);
}
