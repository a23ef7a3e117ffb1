/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads in the making. While clone(2) runs, the new thread has already copied its creator's
 * events and is not yet in /proc/self/task: an event opened just then misses it, and no listing
 * shows it. So pthread_create() is interposed to say when one is under way.
 */
#ifndef TRAP_CREATION_H
#define TRAP_CREATION_H

/* Waits until every thread creation that was under way at the call is done; after 100 ms it gives
 * up, which is counted. Async-signal-safe. */
void creation_settle(void);

#endif
