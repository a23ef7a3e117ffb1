/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SIGTRAP sent to the process may reach another thread than one that waits for it: that thread
 * keeps it and nudges one that waits, by a SIGTRAP of ours, upon which it looks. So a thread first
 * enters itself, then looks, then waits; whoever keeps one stores it first and then looks for
 * waiters. Both are sequentially consistent: one of the two sees the other. Async-signal-safe.
 */
#ifndef MASK_NUDGE_H
#define MASK_NUDGE_H

#include <signal.h>
#include <stdbool.h>

/* The calling thread waits; its place, to be left, or -1: it has one already, from a call that this
 * one interrupts, or there is none, and it waits without nudges. */
int nudge_enter(void);
void nudge_leave(int place);
/* The calling thread may have left such a call without leaving its place. */
void nudge_left(void);

/* Wake a thread that waits for SIGTRAP: one has been kept. */
void nudge_send(void);
/* The calling thread, which is about to wait. */
void nudge_this(void);
/* In a handler, by which a call that waited has ended: this thread does not wait, another may. */
void nudge_pass_on(void);
bool nudge_is(const siginfo_t *info);
/* In a forked child, where nobody waits. */
void nudge_forget(void);

#endif
