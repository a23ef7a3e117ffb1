/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads in the making. While clone(2) runs, the new thread has already copied its creator's
 * events and is not yet in /proc/self/task: an event opened just then misses it, and no listing
 * shows it. So pthread_create() is interposed to say when one is under way.
 */
#ifndef TRAP_CREATION_H
#define TRAP_CREATION_H

/* Wait until every thread creation that was under way at the call is done; at most 100 ms, then
 * counted. Async-signal-safe. */
void creation_settle(void);

#endif
