/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which manner a process is watched: all its threads together, or, where armed slots are dear
 * (target/transient.h), one thread at a time. All that differs between the two stands here; which
 * one it is may change with each census of the process's wake-ups.
 */
#ifndef EXPLORE_MANNER_H
#define EXPLORE_MANNER_H

#include "explore/explorer.h"

struct manner {
	/* Gives a silent slot that holds nobody its next watch, if there is one. */
	void (*arm)(struct explorer *explorer, struct target *target, struct slot *slot,
		    uint64_t now);
	/* When it is to be asked again for this slot though nothing has happened; CLOCK_MONOTONIC
	 * ns, UINT64_MAX: never. */
	uint64_t (*due)(const struct target *target, const struct slot *slot);
	/* `watch` is about to be armed for what a held thread will access; NULL: as it is. */
	void (*suit)(struct target *target, struct tl_watch *watch);
	/* `data` has been armed for what the thread is about to access that `slot` holds; NULL:
	 * nothing more is to be done. */
	void (*armed)(struct target *target, const struct slot *slot, struct slot *data,
		      const struct hit *hit);
	uint64_t look_interval; /* ns between two looks at the stacks of sleeping threads */
	int foresight_parts;	/* one part in so many of the budget's income is for look-ahead */
	/* A watch outlasts its window while threads are held, or where several came and no other
	 * address waits. Else it ends with the hold that led to it, and at a hit that leads to no
	 * address. */
	bool lingers;
	/* Periods of threads are learnt, and savings kept for what was foreseen. */
	bool learns;
};

static inline const struct manner *manner_of(const struct target *target)
{
	return explorer_of(target)->manner[armed_is_dear(target)];
}

#endif
