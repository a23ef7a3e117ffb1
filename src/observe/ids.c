/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/ids.h"

#include "base/syscall.h"

#include <linux/perf_event.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct observed_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static size_t events_open(const struct target *target)
{
	size_t count = 0;

	for (unsigned i = 0; i < AREA_SLOTS; i++)
		count += target->slot[i].coverage.count;
	return count;
}

static void add_slot(struct observed_ids *ids, const struct slot *slot)
{
	for (size_t i = 0; i < slot->coverage.count; i++) {
		struct observed_id *one = &ids->known[ids->count];

		one->slot = slot->index;
		ids->count += !raw_ioctl(slot->coverage.roots[i].fd, PERF_EVENT_IOC_ID,
					 (unsigned long)&one->id);
	}
}

static void ask_all(struct target *target)
{
	struct observed_ids *ids = &target->observed->ids;
	size_t count = events_open(target);

	free(ids->known);
	ids->count = 0;
	ids->known = calloc(count ? count : 1, sizeof(*ids->known));
	for (unsigned i = 0; ids->known && i < AREA_SLOTS; i++)
		add_slot(ids, &target->slot[i]);
	if (ids->known)
		qsort(ids->known, ids->count, sizeof(*ids->known), compare);
	ids->opened = target->observed->rings.opened;
}

static const struct observed_id *find(const struct observed_ids *ids, uint64_t id)
{
	const struct observed_id wanted = {.id = id};

	return ids->count ? bsearch(&wanted, ids->known, ids->count, sizeof(wanted), compare)
			  : NULL;
}

struct slot *observed_event_slot(struct target *target, uint64_t id)
{
	struct observed_ids *ids = &target->observed->ids;
	const struct observed_id *found = find(ids, id);

	if (!found && ids->opened != target->observed->rings.opened) {
		ask_all(target);
		found = find(ids, id);
	}
	return found ? &target->slot[found->slot] : NULL;
}
