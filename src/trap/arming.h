/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arming and silencing open events: an armed one has its kernel events enabled and its region
 * closed to threads; a silent one has neither and costs nothing. All of it is async-signal-safe
 * and, unless a function says otherwise, is called with the event's lock held.
 */
#ifndef TRAP_ARMING_H
#define TRAP_ARMING_H

#include "trap/object.h"

/* Locks an open event; -EBADF if it is closed. */
int arming_lock(tl_event *event, uint64_t *mask);
/* Locks an event that is not open yet. Returns the signal mask for arming_unlock(). */
uint64_t arming_lock_new(tl_event *event);
/* Unlocks the event, and silences it where its limit was reached while it was locked. */
void arming_unlock(tl_event *event, uint64_t mask);

/* Regions are opened where slots are enabled: until then their pages cost nothing. 0 or -errno. */
int arming_on(tl_event *event);
int arming_off(tl_event *event);

/* May this process arm the event? A region belongs to the memory, of which a forked child has its
 * own copy; a kernel event belongs to the process that opened it. */
bool arming_is_allowed(const tl_event *event);
bool arming_is_region(const tl_event *event);
/* The threads that the event's kernel events cover. */
struct coverage_target arming_target(const tl_event *event);

/* A limit was reached: the event is silenced until it is re-armed. Called without the lock: this
 * takes it, or leaves the silencing to the thread that has it. That thread may be waiting, with the
 * lock, for threads that are being created, and this handler may have interrupted the one that
 * creates them. */
void arming_silence(tl_event *event);

#endif
