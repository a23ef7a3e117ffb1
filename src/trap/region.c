/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/region.h"

#include "base/lock.h"
#include "event/explain.h"
#include "trap/object.h"
#include "trap/region_key.h"
#include "trap/region_pages.h"
#include "trap/region_set.h"
#include "trap/region_thread.h"

#include <errno.h>
#include <stdbool.h>

static struct owner_lock lock;
static bool opening_first;

/*
 * Take the key off the pages of [start, end) that no region needs any more. What was unmapped
 * meanwhile has no pages; what replaced it never had the key.
 */
static void release_pages(uintptr_t start, uintptr_t end)
{
	while (start < end) {
		struct region_cursor cursor = {0};
		struct region_entry entry, lowest = {.first = end, .end = end};
		uintptr_t stop;

		while (region_set_next(start, end, &cursor, &entry))
			lowest = entry;
		stop = region_page_down(lowest.first);
		if (stop > end)
			stop = end;
		if (stop > start)
			region_pages_set_key(start, stop, 0);
		start = region_page_up(lowest.end);
	}
}

static void close_locked(unsigned index)
{
	struct region_entry entry;

	if (region_set_take(index, &entry))
		release_pages(region_page_down(entry.first), region_page_up(entry.end));
}

/* The entry comes first, so that a fault finds its region. */
static int open_locked(unsigned index, const struct region_place *place)
{
	struct region_entry entry = {.first = place->first,
				     .end = place->first + place->length,
				     .generation = place->generation,
				     .index = (uint16_t)index,
				     .access = (uint16_t)place->access};
	int err = region_set_insert(&entry);

	if (err)
		return err;
	err = region_pages_set_key(region_page_down(entry.first), region_page_up(entry.end),
				   region_key);
	if (err)
		close_locked(index);
	return err;
}

int region_install(void)
{
	int err = region_key_allocate();

	if (err == -ENOSPC)
		return explain_failure(err,
				       "all protection keys of this process are taken: a region "
				       "needs one; let the program pkey_free() one");
	return err ? err : region_thread_install();
}

/*
 * The kernel writes a signal's frame, and the handler runs, just below the stack pointer: on a
 * watched page that is death. Only the calling thread's stack is known here.
 */
#define SIGNAL_ROOM (32 * 1024)
#define CALLERS_ROOM 1024 /* of the frames between the program and here */

static bool lies_on_this_stack(const struct region_place *place)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	return region_page_down(place->first) < region_page_up(sp + CALLERS_ROOM) &&
	       region_page_up(place->first + place->length) > sp - SIGNAL_ROOM;
}

static int explain_open(int err)
{
	if (err == -ENOMEM)
		explain_failure(err, "some page of the region is not mapped, or there is no memory "
				     "left for the watch; watch mapped memory only");
	if (err == -EBUSY)
		explain_failure(err, "a thread did not answer for 2 s, being stopped or blocking "
				     "every signal there is; let it run and open the region again");
	if (err == -ENFILE)
		explain_failure(err, "4096 regions are open already; close one");
	return err;
}

/*
 * The lock's holder makes many system calls of its own; they need not be dispatched. Where the
 * caller is a handler of ours they are not anyway, and stay so.
 */
static uint64_t take_lock(uint8_t *selector)
{
	uint64_t mask = owner_lock(&lock);

	*selector = region_thread.selector;
	region_thread.selector = SELECTOR_ALLOW;
	return mask;
}

static void release_lock(uint64_t mask, uint8_t selector)
{
	region_thread.selector = selector;
	owner_unlock(&lock, mask);
}

bool region_any(void)
{
	return __atomic_load_n(&opening_first, __ATOMIC_SEQ_CST) || region_set_count();
}

int region_open(unsigned index, const struct region_place *place)
{
	uint8_t selector;
	uint64_t mask;
	int err = 0;

	if (lies_on_this_stack(place))
		return explain_failure(-EFAULT, "the region shares a page with the end of this "
						"thread's stack, where signals are delivered; "
						"watch memory on the heap, or static");
	mask = take_lock(&selector);
	close_locked(index);
	if (!region_set_count()) {
		__atomic_store_n(&opening_first, true, __ATOMIC_SEQ_CST);
		err = region_thread_cover_all();
		selector = SELECTOR_BLOCK;
	}
	if (!err)
		err = open_locked(index, place);
	__atomic_store_n(&opening_first, false, __ATOMIC_SEQ_CST);
	release_lock(mask, selector);
	return explain_open(err);
}

void region_close(unsigned index)
{
	uint8_t selector;
	uint64_t mask = take_lock(&selector);

	close_locked(index);
	release_lock(mask, selector);
}

void region_refresh(uintptr_t start, size_t length)
{
	uint8_t selector;
	uint64_t mask = take_lock(&selector);
	uintptr_t end = region_page_up(start + length);
	struct region_cursor cursor = {0};
	struct region_entry entry;

	while (region_set_next(start, end, &cursor, &entry)) {
		uintptr_t from = region_page_down(entry.first), to = region_page_up(entry.end);

		region_pages_set_key(from > start ? from : start, to < end ? to : end, region_key);
	}
	release_lock(mask, selector);
}

void region_after_fork(void)
{
	struct region_cursor cursor = {0};
	struct region_entry entry;

	while (region_set_next(0, UINTPTR_MAX, &cursor, &entry))
		if (!object_survives_fork(&object_table[entry.index]))
			region_close(entry.index);
}
