/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of an attached process that confine themselves by seccomp(2) while it is watched. Nothing
 * in such a process tells the controller, so it looks at each thread: a filter may be of one thread
 * alone.
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

/* Called before the first event is opened. */
void confined_begin(struct target *target);
void confined_end(struct target *target);

/* If that thread is confined, no handler makes a system call from here on. False: the thread is in
 * strict mode, and may not even read the clock. */
bool confined_note(struct target *target, const struct inject_thread *thread);

/* Looks at the process's threads when that is due. False: one has entered strict mode, and may have
 * events open. */
bool confined_look(struct target *target);

#endif
