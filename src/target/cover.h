/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening events in a program that may become another one at any moment.
 *
 * Promised: no event is enabled in a thread of another process, nor in a program that knows nothing
 * of us, where its SIGTRAP would kill. All threads of one event have the same signal data.
 */
#ifndef TARGET_COVER_H
#define TARGET_COVER_H

#include "event/coverage.h"

struct target;

/* Threads of an attached process in which no event was opened, but which may turn out to take
 * SIGTRAP after all: one that forked at that moment, or waited for a CPU. */
struct doubts {
	bool some;	/* some thread was in doubt since the last look */
	unsigned looks; /* how often all events were opened anew for them */
	uint64_t next;	/* ns when they may be again */
};

/* All threads of the process, and those that are created later, to which a signal may be sent. */
struct coverage_target cover_threads(const struct target *target);
int cover_open(struct target *target, struct coverage *coverage,
	       const struct coverage_target *threads, const struct perf_request *request,
	       uint64_t data);
/* Opens an event in one thread, not inherited. */
int cover_add(struct target *target, struct coverage *coverage, const struct perf_request *request,
	      pid_t tid);
/* Called before an open event is moved, when the process must be known to be itself. False: it may
 * not be moved. */
bool cover_may_move(struct target *target);
int cover_modify(struct coverage *coverage, const struct coverage_target *threads,
		 const struct perf_request *request, uint64_t data);
/* Where threads are in doubt and it is time to look at them again, changes the version. */
void cover_look_again(struct target *target);
/* The version of the choice of threads: events that were opened for another one are to be opened
 * anew. */
unsigned cover_version(const struct target *target);
/* Has the process executed no other program since it announced itself? */
bool cover_is_itself(const struct target *target);

#endif
