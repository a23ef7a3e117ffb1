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
	bool some;	/* since the last look */
	unsigned looks; /* so many times were all events opened anew for them */
	uint64_t next;	/* ns when they may be again */
};

/* All threads of the process, and those that come, that a signal may be sent to. */
struct coverage_target cover_threads(const struct target *target);
int cover_open(struct target *target, struct coverage *coverage,
	       const struct coverage_target *threads, const struct perf_request *request,
	       uint64_t data);
/* One thread's own, not inherited. */
int cover_add(struct target *target, struct coverage *coverage, const struct perf_request *request,
	      pid_t tid);
/* Before an open event is moved: what of the process must be known by then? False: it may not. */
bool cover_may_move(struct target *target);
int cover_modify(struct coverage *coverage, const struct coverage_target *threads,
		 const struct perf_request *request, uint64_t data);
/* Are there threads in doubt, and is it time to look at them again? Then the version is another. */
void cover_look_again(struct target *target);
/* Of the choice of threads: events that were opened for another one are to be opened anew. */
unsigned cover_version(const struct target *target);
/* Has the process executed no other program since it announced itself? */
bool cover_is_itself(const struct target *target);

#endif
