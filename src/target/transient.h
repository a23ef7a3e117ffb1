/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs whose threads sleep and wake all the time.
 *
 * A slot costs each thread that gets a CPU while it is armed (cost/wakeups.h), and about half of
 * that while it is only open. In a server whose workers sleep and wake tens of thousands of times a
 * second nothing can stay open: slots are transient, that is, opened for one watch at a time; and
 * where even that costs too much (armed_is_dear()), a watch is of one thread alone, and short. Both
 * are measured, for each process by itself.
 */
#ifndef TARGET_TRANSIENT_H
#define TARGET_TRANSIENT_H

#include "process/thread_status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TRANSIENT_THREADS 64 /* of a process with more, slots are never transient */

struct target;

/* How often a thread wakes, as far as it is known. */
struct thread_rate {
	pid_t tid;
	struct thread_slices slices;
	double rate;	 /* wake-ups a second */
	uint64_t sleeps; /* by itself, so far; 0: not asked */
	double work;	 /* pieces a second that come to it; 0: few, or not known */
};

struct transient {
	bool on;	 /* open slots cost too much: they are open only while they are armed … */
	bool armed_dear; /* … and armed ones cost too much as well */
	bool known;	 /* `thread` is of an earlier count */
	struct thread_rate thread[TRANSIENT_THREADS];
	unsigned count;
	pid_t running[TRANSIENT_THREADS]; /* threads that woke since the count before */
	unsigned running_count;
};

/* `thread`: all threads with their present slices; their rates are filled in. `count` 0: there are
 * too many. */
void transient_look(struct target *target, struct thread_rate *thread, unsigned count,
		    double seconds);

#endif
