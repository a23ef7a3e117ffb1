/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of a process that its teams have: what each is for, and places where two threads were
 * foretold to conflict, watched for both. Holds come from what is lent at the start, and no thread
 * has to have saved up for them.
 */
#ifndef TEAM_WATCHES_H
#define TEAM_WATCHES_H

#include "explore/explorer.h"
#include "team/places.h"

/* Of a run. */
struct team_loan {
	uint64_t lent; /* ns of holds, of all processes */
	bool births;   /* threads that are created have been asked for */
};

#define TRIED 16 /* places, remembered */
#define PLACES_MOST 64
#define TOUR 4096 /* instructions looked ahead of one thread */

enum role { ROLE_NONE, ROLE_ENTRY, ROLE_FUNCTION, ROLE_PLACE };

/* What a slot is for. */
struct team_watch {
	enum role role;
	unsigned argument; /* of ROLE_ENTRY: which one is the function */
};

/* Of a process. */
struct team_watches {
	struct team_watch watch[AREA_WATCHES]; /* by slot */
	uint64_t last;			       /* entry point that was come by */
	bool arming;			       /* slot_arm() is under way */
	uint64_t tried[TRIED];
	unsigned tries;
};

static inline struct team_watches *team_watches_of(const struct target *target)
{
	return target->explored->team_watches;
}

/* Made if there are none yet. False: there is no memory. */
bool team_watches_begin(struct target *target);
void team_watches_end(struct target *target);
/* May threads of this process be held for a team now? */
bool team_may_hold(const struct target *target);
bool team_has_role(const struct target *target, const struct slot *slot, enum role role);
/* Watched for what `role` says; `heuristic` is what led to it. 0 or -errno. */
int team_watch_for(struct target *target, struct slot *slot, enum role role,
		   enum heuristic heuristic, const struct team_place *place, unsigned hits);
/* One that is silent, or can be spared: no team's, or that of the entry point come by last. NULL:
 * there is none. */
struct slot *team_free_slot(struct target *target);
/* Watches the places that were not tried lately first, of equals any, as far as slots go. */
void team_watch_places(struct target *target, enum heuristic heuristic, unsigned hits,
		       const struct team_place *places, unsigned count);
/* So long a thread was held, ns. */
void team_lend(struct target *target, uint64_t held);

#endif
