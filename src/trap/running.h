/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread is running a handler of which event, so that an event can be closed safely.
 *
 * A handler publishes the event in its thread's record (sequentially consistent store), then checks
 * that the event's generation is still the signal's. The closer first ends the generation
 * (sequentially consistent), then looks at the records: so either the handler sees the end, or the
 * closer sees the handler (Dekker's argument; the scheme is Michael's hazard pointers, 2004).
 */
#ifndef TRAP_RUNNING_H
#define TRAP_RUNNING_H

#include <stdint.h>
#include <sys/types.h>
#include <trapline/event.h>

#define RUNNING_ROOTS 32

struct running {
	/* The thread that has the record, from its first hit to its end; 0: free. */
	pid_t tid;
	int parked;	  /* its handler waits in tl_event_close(): counts as finished */
	tl_event *event;  /* whose handler runs now */
	tl_event *beside; /* another event, which that handler looks at: kept open as well */
	/* Which root a counter's hits in this thread come from, by event index modulo the array's
	 * size: generation << 32 | index << 16 | root. Only for events with ambiguous coverage.
	 * Written and read by the owner alone. */
	uint64_t root[RUNNING_ROOTS];
};

/* The calling thread's record, its event cleared; NULL if none is free. */
struct running *running_acquire(void);

/* The calling thread's record if it is inside a handler now, else NULL. */
struct running *running_current(void);

/* Wait until no other thread runs a handler of `event`. */
void running_wait(tl_event *event);

#endif
