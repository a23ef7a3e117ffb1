/* SPDX-License-Identifier: Apache-2.0 */
#include "region/region.h"

#include "base/lock.h"
#include "event/explain.h"
#include "region/key.h"
#include "region/lost.h"
#include "region/pages.h"
#include "region/set.h"
#include "region/thread.h"
#include "signal/borrower.h"

#include <errno.h>
#include <stdbool.h>

const struct region_events *region_events;

static struct owner_lock lock;
static bool opening_first;
/* Nothing is opened any more (region_end()); nothing is closed either (region_freeze()). */
static bool ended, frozen;

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

/*
 * Take the key off the pages of [start, end) that no region but `index` needs. What was unmapped
 * meanwhile has no pages; what replaced it never had the key.
 */
static void release_pages(unsigned index, uintptr_t start, uintptr_t end)
{
	while (start < end) {
		struct region_cursor cursor = {0};
		struct region_entry entry, lowest = {.first = end, .end = end};
		uintptr_t stop;

		while (region_set_next(start, end, &cursor, &entry))
			if (entry.index != index)
				lowest = entry;
		stop = region_page_down(lowest.first);
		if (stop > end)
			stop = end;
		if (stop > start)
			region_pages_set_key(start, stop, 0);
		start = region_page_up(lowest.end);
	}
}

/* The entry goes last: threads that find no region leave (region_any()), and block SIGSEGV as they
 * like. One that then met a page with the key still on would be killed, and its calls refused. */
static void close_locked(unsigned index)
{
	struct region_entry entry;

	if (!region_set_find(index, &entry))
		return;
	if (is_set(&frozen)) {
		region_set_silence(index);
		return;
	}
	release_pages(index, region_page_down(entry.first), region_page_up(entry.end));
	region_set_remove(index);
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

/* Told before the first region, whose opening orders that before any fault at it. */
int region_install(const struct region_events *events)
{
	int err = region_key_allocate();

	region_events = events;
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
		explain_failure(err, "a thread did not answer for 5 s, being stopped or blocking "
				     "every signal there is, or threads came and went too fast; "
				     "let it run and open the region again");
	if (err == -EPERM)
		explain_failure(err,
				"the program restricts its system calls, or has them dispatched "
				"itself, and a region needs them");
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
	uint64_t mask = owner_lock_letting(&lock, REGION_VISIT_MASK);

	*selector = region_thread.selector;
	region_thread.selector = SELECTOR_ALLOW;
	return mask;
}

static void release_lock(uint64_t mask, uint8_t selector)
{
	region_selector_restore(selector);
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
	if (is_set(&ended) || is_set(&frozen))
		return explain_open(-EPERM);
	mask = take_lock(&selector);
	close_locked(index);
	if (is_set(&ended) || is_set(&frozen)) {
		err = -EPERM;
	} else if (!region_set_count()) {
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
	uint64_t mask;

	if (is_set(&ended))
		return;
	mask = take_lock(&selector);
	close_locked(index);
	release_lock(mask, selector);
}

void region_freeze(void)
{
	uint8_t selector;
	uint64_t mask;

	if (is_set(&frozen) || is_set(&ended))
		return;
	mask = take_lock(&selector);
	if (!__atomic_exchange_n(&frozen, true, __ATOMIC_SEQ_CST))
		region_note_lost(region_set_count(), true);
	release_lock(mask, selector);
	__atomic_store_n(&owner_lock_anonymous, true, __ATOMIC_RELAXED);
}

bool region_is_frozen(void)
{
	return is_set(&frozen);
}

void region_end(void)
{
	struct region_cursor cursor = {0};
	struct region_entry entry;
	uint8_t selector;
	uint64_t mask;

	if (!region_events || is_set(&frozen) || is_set(&ended) || borrower_is())
		return;
	mask = take_lock(&selector);
	if (!is_set(&ended)) {
		__atomic_store_n(&ended, true, __ATOMIC_SEQ_CST);
		region_note_lost(region_set_count(), false);
		while (region_set_next(0, UINTPTR_MAX, &cursor, &entry))
			close_locked(entry.index);
		region_thread_leave_all();
	}
	mask |= region_thread.hidden;
	region_thread.hidden = 0;
	release_lock(mask, SELECTOR_ALLOW);
}

void region_refresh(uintptr_t start, size_t length)
{
	uintptr_t end = region_page_up(start + length);
	struct region_cursor cursor = {0};
	struct region_entry entry;
	uint8_t selector;
	uint64_t mask;

	if (is_set(&frozen) || is_set(&ended))
		return;
	mask = take_lock(&selector);

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

	/* By a thread that was left behind in the parent. */
	__atomic_store_n(&opening_first, false, __ATOMIC_SEQ_CST);
	while (region_set_next(0, UINTPTR_MAX, &cursor, &entry))
		if (!region_events->survives_fork(entry.index))
			region_close(entry.index);
}
