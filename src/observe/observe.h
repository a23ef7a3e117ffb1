/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that runs already, watched from outside without stopping or changing it: nothing of
 * ours is in it, so no signal and no handler either. Each hit leaves a sample in a ring of the
 * kernel's, with the thread's registers and the top of its stack, and the thread goes on at once.
 *
 * What this cannot give: the value at the time (it is told where a register still holds it), the
 * old value, threads that wait at their access, actions there, and what a thread does with its own
 * copy of a variable before it is first looked at (observe/copies.h).
 */
#ifndef OBSERVE_OBSERVE_H
#define OBSERVE_OBSERVE_H

#include "target/target.h"

/* What the room tells; called by the controller's thread. */
struct observe_events {
	/* A hit of an armed slot, in the order in which they were made. `pid` is its thread's, the
	 * target's or a child's. */
	void (*hit)(struct target *target, const struct area_hit *hit, pid_t pid);
	/* A thread has been met, whose thread pointer is this: observed_announce_threads(). */
	void (*thread)(struct target *target, pid_t tid, uint64_t pointer);
};

/* Are children watched, too: those that it has, and those that it forks later, until they execute
 * a program? */
bool observe_children(const struct program *program);

/* 0 or -errno: -ESRCH, or -EACCES when this user may not trace it. */
int observe_begin(struct program *program, pid_t pid, const struct observe_events *events);
void observed_close(struct observed *observed);

/* Slot by slot: 0 or -errno. */
int observed_arm(struct target *target, struct slot *slot, const struct tl_watch *watch);
void observed_disarm(struct target *target, struct slot *slot);
/* From now on the caller is told of each thread, those that run first. */
void observed_announce_threads(struct target *target);
/* Slots with an address of their own in each thread. */
int observed_arm_thread(struct target *target, struct slot *slot, pid_t tid, uint64_t address);

/* One round of the loop: hits are told. */
void observe_step(struct program *program);
/* Now and then: threads that came, and whether it is still the same program. */
void observe_check(struct target *target);
/* Sleeps until there is something to be read, or `until`. */
void observe_wait(struct program *program, uint64_t until);
/* It has ended or is another program. */
bool observe_is_over(const struct program *program);
/* The last hits, so that the kernel's counts and ours are of the same. */
void observed_settle(struct target *target);
uint64_t observed_lost(const struct target *target);

/* The observed process has executed nothing since it was begun with, and does not end: what was
 * found in its memory until now was that program's. */
bool observe_is_itself(const struct program *program);

/* Threads of the observed process that could not be covered. */
uint64_t observe_uncovered(const struct program *program);
/* Threads whose own copies of variables were not watched at all, and those that may have used
 * theirs before (observe/copies.h). After the last hits. */
uint64_t observe_unmet(const struct program *program);
uint64_t observe_late(const struct program *program);

#endif
