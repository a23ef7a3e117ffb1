/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a process attached to that confine themselves by seccomp(2) while it is watched.
 * Nothing in the process tells the controller, so it looks at each thread, which may have a filter
 * for itself alone.
 */
#ifndef TARGET_CONFINED_H
#define TARGET_CONFINED_H

#include "event/threads.h"

#include <stdbool.h>
#include <stdint.h>

struct target;
struct inject_thread;

struct confined {
	struct thread_set before; /* strict since before it was watched: no event is open there */
	bool later;		  /* a thread has become strict since then */
	uint64_t next_look;	  /* ns */
	size_t next; /* of its threads, as they are listed: where the next look begins */
};

/* Before the first event is opened. */
void confined_begin(struct target *target);
void confined_end(struct target *target);

/* From here on no handler makes a call if that thread is confined. False: it is strict, and may not
 * even read the clock. */
bool confined_note(struct target *target, const struct inject_thread *thread);

/* At its threads, where that is due. False: one has become strict, and may have events open. */
bool confined_look(struct target *target);

#endif
