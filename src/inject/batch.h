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

/* The signal by which the thread stops itself after the run: Linux never sends it, and hardly any
 * program does. */
#define BATCH_SIGNAL SIGSTKFLT

struct batch {
	uint64_t run;	/* where the code is in the process; 0: the calls are made one by one */
	uint64_t table; /* where the calls of its struct injected_table are */
	/* What mprotect(2) makes writable before the first call, the table with it; length 0: it is
	 * already. A run would fault where it notes that this was refused. */
	struct {
		uint64_t start, length;
	} locked;
	unsigned count;
	struct injected_call call[INJECTED_CALLS];
};

/* Adds a call; the caller sets `from`, `index` and `cleanup`. There must be room for it. */
struct injected_call *batch_add(struct batch *batch, long number, const uint64_t arguments[6]);

#define BATCH_ADD(batch, number, ...) batch_add(batch, number, (const uint64_t[6]){__VA_ARGS__})

/* 0: each call has its result, and nothing is locked. -errno: none were made, or only the first
 * ones. */
int batch_run(struct batch *batch, struct remote *remote);

/* The first error among the results, except of calls that clean up; -ECANCELED: one call was not
 * made; 0: none failed. */
int batch_error(const struct batch *batch);

#endif
