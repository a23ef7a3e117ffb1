/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread's own copy of a thread-local variable, in a process that is observed. Nobody wakes
 * us when a thread begins, so the list of threads is looked at all the time while such a variable
 * is watched. A thread that is listed and has not run yet has no thread pointer: it is asked for
 * again at each look. Accepted loss: what a thread does with its copy before the first look at it,
 * some OBSERVED_LOOK_NS, and the copies of children. A thread for which it may have been longer is
 * counted, and so is one that has ended by then: the kernel's records of births show those.
 */
#ifndef OBSERVE_COPIES_H
#define OBSERVE_COPIES_H

#include "observe/observed.h"

#define OBSERVED_LOOK_NS 5000000u
/* A thread that may have run for longer without its copy being watched is counted: four looks. */
#define OBSERVED_LATE_NS (4u * OBSERVED_LOOK_NS)

/* Threads that came, and those that ended. `now`: those that are there. All records written before
 * they were listed must have been read: hits of the ended ones are known no longer. */
void observed_copies_look(struct target *target, const struct thread_set *now);
/* The kernel's record of a thread's birth: CLOCK_MONOTONIC ns. */
void observed_copies_born(struct target *target, pid_t tid, uint64_t time);
/* The watching ends: counts the threads whose copies were not watched. */
void observed_copies_settle(struct target *target);
/* When the next look is due; UINT64_MAX: never. */
uint64_t observed_copies_next(const struct target *target);
/* Does the slot watch this address in this thread? */
bool observed_copy_is_at(const struct target *target, const struct slot *slot, pid_t tid,
			 uint64_t address);
/* 0: not known. */
uint64_t observed_thread_pointer(const struct target *target, pid_t tid);
/* What the slot watched. */
void observed_copies_forget(struct target *target, const struct slot *slot);
void copies_forget_all(struct observed_copies *copies);

#endif
