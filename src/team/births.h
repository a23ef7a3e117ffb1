/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are created one by one, by pthread_create() and what ends in it. One that accesses
 * a variable once, or whose whole program is over in milliseconds, is seen by no sample. So the
 * preload library tells of each new thread before its function begins, and of the one that created
 * it before pthread_create() returns (contact/birth.h); both wait. Look-ahead from both
 * (ahead_tour()), and from siblings that wait, tells where two will conflict: these places are
 * watched, and all go on. A creator is never kept waiting for more than that; a new thread is until
 * its creator has come, and while that is about to create another, until nobody has come for
 * BIRTH_ALONE or, where the creator was seen to be about to, so long as its own wait lasts.
 * Siblings that had to go on before are compared as well, for a while.
 *
 * The waits come from what is lent to teams (watches.h); of each function so many births are told
 * (AREA_BIRTHS_TOLD). Processes without the preload library tell of none. The controller's thread
 * alone runs all of it.
 */
#ifndef TEAM_BIRTHS_H
#define TEAM_BIRTHS_H

#include "explore/explorer.h"

#define BIRTH_ALONE (3 * MILLISECOND / 2)

/* The process still waits to begin. */
void births_begin(struct target *target);
void births_end(struct target *target);
/* Takes what processes have told. */
void births_collect(struct program *program);
/* Lets those go that have waited in vain. */
void births_run(struct target *target, uint64_t now);
/* When that is to be called next; CLOCK_MONOTONIC ns, UINT64_MAX: nobody waits. */
uint64_t births_next(const struct target *target);

#endif
