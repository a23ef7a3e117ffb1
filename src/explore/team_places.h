/* SPDX-License-Identifier: Apache-2.0 */
/* Where two threads will conflict, by what look-ahead saw of both. Pure arithmetic, but for
 * team_sift(). */
#ifndef EXPLORE_TEAM_PLACES_H
#define EXPLORE_TEAM_PLACES_H

#include "sample/ahead.h"

/* Leaves what the program's own code does to memory that may be shared: the file of `function`. */
void team_sift(struct space *space, uint64_t function, struct ahead_view *view);

/* What a slot can watch at a time. */
struct team_place {
	uint64_t address;
	unsigned length; /* 1, 2, 4 or 8, and the address a multiple of it */
};

/* Each once: how many, at most `most`. Both may come there, one to write, by
 * no atomic operation and under no lock in common. Who walks along memory in equal steps is taken
 * to go on as far as where the other begins to do the same. */
unsigned team_places(const struct ahead_view *one, const struct ahead_view *other,
		     struct team_place *places, unsigned most);
/* That one thread writes. */
unsigned team_writes(const struct ahead_view *view, struct team_place *places, unsigned most);

#endif
