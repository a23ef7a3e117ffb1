/* SPDX-License-Identifier: Apache-2.0 */
/* Where two threads will conflict, by what look-ahead saw of both. Pure arithmetic, except for
 * team_may_share() and team_sift(), which ask the process's map. */
#ifndef TEAM_PLACES_H
#define TEAM_PLACES_H

#include "sample/ahead.h"

/* Can another thread access this memory, and write to it? Memory that was mapped after the
 * process's map was last read counts as such. */
bool team_may_share(struct space *space, const struct ahead_access *access);
/* Drops from the view the accesses made by code of other files than that of `function`, and those
 * to memory that no other thread can access. */
void team_sift(struct space *space, uint64_t function, struct ahead_view *view);

/* Bytes that one slot can watch. */
struct team_place {
	uint64_t address;
	unsigned length; /* 1, 2, 4 or 8, and the address a multiple of it */
};

/*
 * The places, each once, that both threads will access, at least one of them to write, without an
 * atomic operation and without a lock in common. Returns how many, at most `most`. A thread that
 * walks along memory in equal steps is taken to go on up to where the other's walk of the same
 * steps begins.
 */
unsigned team_places(const struct ahead_view *one, const struct ahead_view *other,
		     struct team_place *places, unsigned most);
/* The same for what one thread alone is about to write. */
unsigned team_writes(const struct ahead_view *view, struct team_place *places, unsigned most);

#endif
