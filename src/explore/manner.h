/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which manner a process is watched: all its threads together, or, where armed slots cost too
 * much (target/transient.h), one thread at a time. All that differs between the two stands here. A
 * process may change from one to the other with each census of its wake-ups.
 */
#ifndef EXPLORE_MANNER_H
#define EXPLORE_MANNER_H

#include "explore/explorer.h"

struct manner {
	/* Gives a silent slot that holds nobody its next watch, if there is one. */
	void (*arm)(struct explorer *explorer, struct target *target, struct slot *slot,
		    uint64_t now);
	/* When arm() is to be called again for this slot even if nothing happens; CLOCK_MONOTONIC
	 * ns, UINT64_MAX: never. */
	uint64_t (*due)(const struct target *target, const struct slot *slot);
	/* Adapts `watch`, which is about to be armed for what a held thread will access; NULL:
	 * nothing to adapt. */
	void (*suit)(struct target *target, struct tl_watch *watch);
	/* Called when the slot `data` has been armed for what the thread held at `slot` is about to
	 * access; NULL: nothing more is to be done. */
	void (*armed)(struct target *target, const struct slot *slot, struct slot *data,
		      const struct hit *hit);
	uint64_t look_interval; /* ns between two looks at the stacks of sleeping threads */
	int foresight_parts;	/* one part in so many of the budget's income is for look-ahead */
	/* A watch outlasts its window while threads are held, or where several came and no other
	 * address waits. Else it ends with the hold that led to it, and at a hit that leads to no
	 * address. */
	bool lingers;
	/* The periods of threads are learnt, and hold credit is reserved for foreseen conflicts. */
	bool learns;
};

static inline const struct manner *manner_of(const struct target *target)
{
	return explorer_of(target)->manner[armed_is_dear(target)];
}

#endif
