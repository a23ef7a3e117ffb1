/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several system calls of a stopped thread in one go: written as a table into the image, whose code
 * makes them (INJECTED_RUN of agent/arch.h). The thread is let run once instead of twice for each
 * call, and each time costs tens of microseconds, on a busy machine some milliseconds.
 */
#ifndef INJECT_BATCH_H
#define INJECT_BATCH_H

#include "inject/remote.h"
#include "record/injected.h"

/* What the thread stops itself with: Linux never sends it, and hardly any program does. */
#define BATCH_SIGNAL SIGSTKFLT

struct batch {
	uint64_t run;	/* where the code is in the process; 0: the calls are made one by one */
	uint64_t table; /* where its struct injected_table is */
	unsigned count;
	struct injected_call call[INJECTED_CALLS];
};

/* The call added, for `from`, `index` and `cleanup` to be set. There is room for it. */
struct injected_call *batch_add(struct batch *batch, long number, const uint64_t arguments[6]);

#define BATCH_ADD(batch, number, ...) batch_add(batch, number, (const uint64_t[6]){__VA_ARGS__})

/* 0: each has its result. -errno where they could not be made, or a prefix of them only. */
int batch_run(struct batch *batch, struct remote *remote);

/* The first error among the results but of those that clean up; -ECANCELED: one was not made; 0. */
int batch_error(const struct batch *batch);

#endif
