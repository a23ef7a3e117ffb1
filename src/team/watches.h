/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of a process that its teams and births have: what each slot is for, and the places
 * where two threads were foretold to conflict, watched in both. These holds are paid from what is
 * lent at the start; a thread need not have saved up for them.
 */
#ifndef TEAM_WATCHES_H
#define TEAM_WATCHES_H

#include "explore/explorer.h"
#include "team/places.h"

/* What is lent in a run. */
struct team_loan {
	uint64_t lent; /* ns of holds, of all processes */
	bool births;   /* the program has been asked to tell of threads that it creates */
};

#define TRIED 16 /* places that are remembered as tried */
#define PLACES_MOST 64
#define TOUR 4096 /* instructions looked ahead of one thread */

enum role { ROLE_NONE, ROLE_ENTRY, ROLE_FUNCTION, ROLE_PLACE };

/* What a slot is for. */
struct team_watch {
	enum role role;
	unsigned argument; /* of ROLE_ENTRY: the number of the argument that is the function */
};

/* What is kept of a process. */
struct team_watches {
	struct team_watch watch[AREA_WATCHES]; /* by slot */
	uint64_t last;			       /* the entry point that was hit last */
	bool arming;			       /* slot_arm() is under way */
	uint64_t tried[TRIED];
	unsigned tries;
};

static inline struct team_watches *team_watches_of(const struct target *target)
{
	return target->explored->team_watches;
}

/* Makes the process's struct team_watches if it has none. False: there is no memory. */
bool team_watches_begin(struct target *target);
void team_watches_end(struct target *target);
/* May threads of this process be held for a team now? */
bool team_may_hold(const struct target *target);
bool team_has_role(const struct target *target, const struct slot *slot, enum role role);
/* Arms the slot for what `role` says; `heuristic` is what led to the watch. 0 or -errno. */
int team_watch_for(struct target *target, struct slot *slot, enum role role,
		   enum heuristic heuristic, const struct team_place *place, unsigned hits);
/* A slot that is silent or can be spared: one that no team has, or that of the entry point that was
 * hit last. NULL: there is none. */
struct slot *team_free_slot(struct target *target);
/* Watches as many of these places as slots can be had for: first those that were not tried lately,
 * in any order among equals. */
void team_watch_places(struct target *target, enum heuristic heuristic, unsigned hits,
		       const struct team_place *places, unsigned count);
/* Takes the time that a thread was held, ns, from what is lent. */
void team_lend(struct target *target, uint64_t held);

#endif
