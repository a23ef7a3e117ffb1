/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Teams: threads that begin a function together, as those of an OpenMP region do, or that each
 * begin a piece of the work, as those that take its tasks do. Such a program may be over before a
 * clock sample falls into it. So the runtime's entry points are watched from the start on: the
 * arguments of a thread that calls one tell which function its team is about to begin. Before that
 * function the first thread is held until another comes that it will conflict with. Look-ahead from
 * both (ahead_tour()) tells where they will conflict, also at the end of a stretch of memory that
 * one of them walks along. Two such places are watched, other ones in the next region, and both
 * threads go on.
 *
 * Threads that are created one by one are the business of births.h. A process has a struct team
 * where one is expected; the controller's thread alone touches it.
 */
#ifndef TEAM_TEAM_H
#define TEAM_TEAM_H

#include "team/watches.h"

/* Called when the slots are open and the process still waits to begin: looks for its runtime's
 * entry points. */
void team_begin(struct target *target);
void team_end(struct target *target);
/* Arms the slot for an entry point. False: the other ways of choosing may have it. */
bool team_arm(struct target *target, struct slot *slot);
bool team_has(const struct target *target, const struct slot *slot);
/* Called when a slot is about to be armed. True: it is armed for a team, and its holds are filled
 * in. */
bool team_publish(struct target *target, struct slot *slot);
/* Called when a thread is held at an entry point, or before a function. */
void team_came(struct target *target, struct slot *slot, struct hit *hit);
/* Lets a thread go that waited before a function while no other came; what it is about to write is
 * watched. */
void team_run(struct target *target, const struct slot *slot, uint64_t now);
/* A thread is held at a place. Where another is, too, both have been seen there at one moment, and
 * go on: what one of them only reads it may be about to write. */
void team_met(struct target *target, struct slot *slot, const struct hit *hit);
void team_held(struct target *target, const struct slot *slot, const struct hit *hit);

#endif
