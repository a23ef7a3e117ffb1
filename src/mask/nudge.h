/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SIGTRAP sent to the process may reach another thread than one that waits for it. The thread
 * that it reaches keeps it and nudges one that waits, by a SIGTRAP of ours, upon which that one
 * looks for it. So a waiting thread first enters itself, then looks, then waits; a thread that
 * keeps a signal stores it first and then looks for waiters. Both are sequentially consistent, so
 * at least one of the two sees the other. Async-signal-safe.
 */
#ifndef MASK_NUDGE_H
#define MASK_NUDGE_H

#include <signal.h>
#include <stdbool.h>

/* Enters the calling thread among those that wait. Returns its place, to be left again, or -1: it
 * has one already, from a call that this one interrupts, or there is none free, and it waits
 * without nudges. */
int nudge_enter(void);
void nudge_leave(int place);
/* Called where the calling thread may have left a waiting call without leaving its place. */
void nudge_left(void);

/* Wakes a thread that waits for SIGTRAP: a signal was kept. */
void nudge_send(void);
/* Nudges the calling thread, which is about to wait. */
void nudge_this(void);
/* Called in a handler that has ended a waiting call: this thread no longer waits, so another one is
 * nudged. */
void nudge_pass_on(void);
bool nudge_is(const siginfo_t *info);
/* Called in a forked child, where no thread waits. */
void nudge_forget(void);

#endif
