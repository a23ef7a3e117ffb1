/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/arming.h"

#include "base/syscall.h"
#include "trap/creation.h"
#include "region/region.h"

#include <errno.h>

struct coverage_target arming_target(const struct tl_event *event)
{
	return (struct coverage_target){.scope = event->scope,
					.tids = event->threads.tids,
					.ntids = event->threads.count,
					.settle = creation_settle,
					.best_effort = event->flags & TL_BEST_EFFORT};
}

bool arming_is_region(const struct tl_event *event)
{
	return event->access && event->flags & TL_REGION;
}

static int each_piece(struct tl_event *event,
		      int (*operation)(struct coverage *, const struct coverage_target *))
{
	struct coverage_target target = arming_target(event);
	int first_error = 0;

	for (unsigned i = 0; i < event->piece_count; i++) {
		int err = operation(&event->coverage[i], &target);

		if (err && !first_error)
			first_error = err;
	}
	return first_error;
}

/* Whether the kernel's events behind this object are this process's own: a forked child has a copy
 * of the object and of the descriptors, but its parent's events. */
static bool is_owner(const struct tl_event *event)
{
	return event->owner_pid == raw_getpid();
}

/* Regions are opened where slots are enabled: until then their pages cost nothing. */
int arming_on(struct tl_event *event)
{
	struct region_place place = {event->addr, event->length, event->access, event->generation};

	if (arming_is_region(event))
		return region_open((unsigned)(event - object_table), &place);
	return each_piece(event, coverage_enable);
}

/* A region belongs to the memory, of which a forked child has its own copy; a kernel event belongs
 * to the process that opened it. */
bool arming_is_allowed(const struct tl_event *event)
{
	return arming_is_region(event) || is_owner(event);
}

int arming_off(struct tl_event *event)
{
	if (!arming_is_region(event))
		return each_piece(event, coverage_disable);
	region_close((unsigned)(event - object_table));
	return 0;
}

uint64_t arming_lock_new(tl_event *event)
{
	uint64_t mask = owner_lock_letting(&event->lock, REGION_VISIT_MASK);

	__atomic_store_n(&event->changing, true, __ATOMIC_SEQ_CST);
	return mask;
}

int arming_lock(tl_event *event, uint64_t *mask)
{
	if (!event)
		return -EINVAL;
	*mask = arming_lock_new(event);
	if (__atomic_load_n(&event->open, __ATOMIC_ACQUIRE))
		return 0;
	arming_unlock(event, *mask);
	return -EBADF;
}

/* The limit may have been raised since the hit that reached it: then there is nothing to
 * silence. */
static bool is_silence_due(tl_event *event)
{
	return __atomic_exchange_n(&event->silence_due, false, __ATOMIC_SEQ_CST) &&
	       __atomic_load_n(&event->open, __ATOMIC_ACQUIRE) && arming_is_allowed(event) &&
	       __atomic_load_n(&event->remaining, __ATOMIC_SEQ_CST) <= 0;
}

/* Pairs with arming_silence(), which sets `silence_due` and then reads `changing`. Here `changing`
 * is cleared first and `silence_due` read then, all sequentially consistent, so that at least one
 * of the two silences the event. */
void arming_unlock(tl_event *event, uint64_t mask)
{
	__atomic_store_n(&event->changing, false, __ATOMIC_SEQ_CST);
	if (is_silence_due(event)) {
		__atomic_store_n(&event->enabled, false, __ATOMIC_RELEASE);
		arming_off(event);
	}
	owner_unlock(&event->lock, mask);
}

/* For a region the lock is always taken. Waiting for it is safe, since the waiting thread still
 * answers the one that holds the lock (REGION_VISIT_MASK); leaving the silencing to the holder is
 * not, since in a forked child the holder may not exist. */
void arming_silence(tl_event *event)
{
	uint64_t mask;

	if (!arming_is_allowed(event))
		return;
	__atomic_store_n(&event->silence_due, true, __ATOMIC_SEQ_CST);
	if (!arming_is_region(event) && __atomic_load_n(&event->changing, __ATOMIC_SEQ_CST))
		return;
	if (!arming_lock(event, &mask))
		arming_unlock(event, mask);
}
