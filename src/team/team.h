/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Teams: threads that begin a function together, as those of an OpenMP region do, or each its piece
 * of the work, as those that take its tasks do. Such a program may be over before a clock sample
 * falls into it. So the runtime's entry points are watched from the start on; who comes by one
 * tells by its arguments which function its threads are about to begin. There the first is held
 * until another comes that it will conflict with. Look-ahead from both (ahead_tour()) tells where
 * they will conflict, also at the end of a stretch of memory that one of them walks along; two such
 * places are watched, others in another region, and both go on.
 *
 * Threads that are created one by one are births.h's. A process has a struct team where one is
 * expected; the controller's thread alone touches it.
 */
#ifndef TEAM_TEAM_H
#define TEAM_TEAM_H

#include "team/watches.h"

/* The slots are open, and the process still waits: its runtime's entry points are looked for. */
void team_begin(struct target *target);
void team_end(struct target *target);
/* Arms the slot for an entry point. False: the other ways may have it. */
bool team_arm(struct target *target, struct slot *slot);
bool team_has(const struct target *target, const struct slot *slot);
/* A slot is about to be armed. True: for a team; its holds are filled in. */
bool team_publish(struct target *target, struct slot *slot);
/* A thread is held at an entry point, or before a function. */
void team_came(struct target *target, struct slot *slot, struct hit *hit);
/* A thread that waited before a function and had no other come is let go, with what it is about to
 * write watched. */
void team_run(struct target *target, const struct slot *slot, uint64_t now);
void team_held(struct target *target, const struct slot *slot, const struct hit *hit);

#endif
