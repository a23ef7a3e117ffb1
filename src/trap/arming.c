/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/arming.h"

#include "base/syscall.h"
#include "trap/creation.h"
#include "trap/region.h"

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

/* A region is memory's, of which a forked child has its own. */
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

/* Locks an open event; -EBADF if it is closed. */
int arming_lock(tl_event *event, uint64_t *mask)
{
	if (!event)
		return -EINVAL;
	*mask = owner_lock(&event->lock);
	if (__atomic_load_n(&event->open, __ATOMIC_ACQUIRE))
		return 0;
	owner_unlock(&event->lock, *mask);
	return -EBADF;
}

void arming_silence(tl_event *event)
{
	uint64_t mask;

	if (!arming_is_allowed(event) || arming_lock(event, &mask))
		return;
	/* Somebody may have re-armed it between our last hit and the lock. */
	if (__atomic_load_n(&event->remaining, __ATOMIC_SEQ_CST) <= 0) {
		__atomic_store_n(&event->enabled, false, __ATOMIC_RELEASE);
		arming_off(event);
	}
	owner_unlock(&event->lock, mask);
}
