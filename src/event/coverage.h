/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request opened in every thread of a scope: of this process or, outside it, of another.
 *
 * A kernel event covers the task it is opened on and, inherited, the tasks that one creates later;
 * never its siblings. So a whole process takes one event for each thread that runs now (a *root*).
 * Threads may be created meanwhile: a child of a thread that was already covered inherited the
 * event, a child of one that was not did not. Passes over the thread list continue until one finds
 * no new thread.
 */
#ifndef EVENT_COVERAGE_H
#define EVENT_COVERAGE_H

#include "event/perf.h"
#include "event/relocation.h"
#include "event/threads.h"

#include <stdbool.h>
#include <trapline/event.h>

struct coverage_root {
	pid_t tid;
	int fd;
	struct relocation_place place; /* of a breakpoint: where it is */
};

struct coverage {
	struct coverage_root *roots;
	size_t count;
	size_t capacity;
	/* Some thread may be covered twice: it was created while the roots were being opened. Its
	 * second signal of a breakpoint coalesces with the first in the kernel; of a counter it
	 * must be told apart by the root number in the signal's data. */
	bool ambiguous;
	unsigned left_out; /* threads that are meant and not covered, as far as is known */
};

struct coverage_target {
	pid_t pid; /* 0: this process */
	enum tl_scope scope;
	const pid_t *tids; /* TL_THREADS */
	size_t ntids;
	/* Waits until no thread is half created: such a one is in no listing, and copied its
	 * creator's events before ours was there. NULL where that cannot be known. */
	void (*settle)(void);
	bool best_effort; /* count threads that cannot be covered instead of failing */
};

/* Signal data of root number `root`. */
typedef uint64_t coverage_data_fn(void *context, unsigned root);

/*
 * request->inherit and threads_only are set from the scope. On failure nothing stays open.
 *
 * Open enabled where possible. The kernel lets a clone(2) under way and an enabling ioctl race: the
 * child may inherit "off" from a parent that is on a moment later, and then even hands that state
 * to its parent, since a context switch between clones swaps their contexts as equal
 * (kernel/events/ core.c: inherit_event(), perf_event_swap_task_ctx_data(); seen on 6.18). So
 * enabling and disabling are said twice, with target->settle in between.
 */
int coverage_open(struct coverage *coverage, const struct coverage_target *target,
		  const struct perf_request *request, coverage_data_fn *data, void *context);
int coverage_enable(struct coverage *coverage, const struct coverage_target *target);
int coverage_disable(struct coverage *coverage, const struct coverage_target *target);
int coverage_modify(struct coverage *coverage, const struct coverage_target *target,
		    const struct perf_request *request, coverage_data_fn *data, void *context);
/* For roots that come and go one by one, each with a request of its own; the rest of the scope's
 * behaviour does not apply. The new one is the last. coverage_remove() returns the root's count. */
int coverage_add(struct coverage *coverage, const struct perf_request *request, pid_t tid);
uint64_t coverage_remove(struct coverage *coverage, size_t index);
/* Removes all but the first `count`. */
void coverage_trim(struct coverage *coverage, size_t count);
uint64_t coverage_count(const struct coverage *coverage);
/* Descriptors are closed; the kernel frees each event. In a forked child use this alone: disabling
 * would reach the parent's events. */
void coverage_close(struct coverage *coverage);

#endif
