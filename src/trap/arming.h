/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an open event costs anything: its kernel events are enabled and its region is closed to
 * threads, or nothing of both. All of it is async-signal-safe and wants the event's lock held.
 */
#ifndef TRAP_ARMING_H
#define TRAP_ARMING_H

#include "trap/object.h"

/* Locks an open event; -EBADF if it is closed. */
int arming_lock(tl_event *event, uint64_t *mask);
/* The same of one that is not open yet; the mask for arming_unlock(). */
uint64_t arming_lock_new(tl_event *event);
/* Unlocks the event, and silences it where its limit was reached while it was locked. */
void arming_unlock(tl_event *event, uint64_t mask);

/* Regions are opened where slots are enabled: until then their pages cost nothing. 0 or -errno. */
int arming_on(tl_event *event);
int arming_off(tl_event *event);

/* A region is memory's, of which a forked child has its own; a kernel event is its opener's. */
bool arming_is_allowed(const tl_event *event);
bool arming_is_region(const tl_event *event);
/* The threads that the event's kernel events cover. */
struct coverage_target arming_target(const tl_event *event);

/* A limit was reached: no cost until re-armed. Takes the lock itself, or leaves it to whoever has
 * it: who opens or switches an event waits for threads that are being created, with the lock, and
 * this may be the handler of one that creates them. */
void arming_silence(tl_event *event);

#endif
