/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: slots that the watched process opens itself, where it has protection keys. */
#include "lasting/regions.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* Asked in this process, whose processor and kernel are the program's. */
bool lasting_has_regions(void)
{
	int key = pkey_alloc(0, 0);

	if (key < 0)
		return false;
	pkey_free(key);
	return true;
}

bool lasting_opens_regions(struct program *program, pid_t pid)
{
	const struct target *target = target_find(program, pid);

	return target && !target->entered;
}

int lasting_arm_region(struct program *program, pid_t pid, unsigned index,
		       const struct tl_watch *watch)
{
	struct target *target = target_find(program, pid);
	struct slot *slot;

	if (!target || index < AREA_SLOTS || index >= AREA_WATCHES)
		return target ? -ENOSPC : -ESRCH;
	slot = &target->slot[index];
	slot_disarm(target, slot);
	slot->index = index;
	slot->watch = *watch;
	slot->watch.hits = UINT_MAX;
	slot->open = true;
	slot->generation = atomic_load(&target->shared->slot[index].generation) & ~1u;
	target->shared->slot[index].region_access = watch->access;
	atomic_store(&target->shared->slot[index].region_error, 0);
	slot_publish(target, slot);
	return 0;
}

struct lasting_regions_lost lasting_regions_lost(struct program *program, pid_t pid)
{
	struct target *target = target_find(program, pid);

	if (!target)
		return (struct lasting_regions_lost){0};
	return (struct lasting_regions_lost){atomic_load(&target->shared->regions_ended),
					     atomic_load(&target->shared->regions_frozen)};
}

int lasting_region_error(struct program *program, pid_t pid, unsigned index)
{
	struct target *target = target_find(program, pid);

	return target && index < AREA_WATCHES
		       ? atomic_load(&target->shared->slot[index].region_error)
		       : 0;
}
