/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trying something out in a forked child, so that whatever happens there (a signal, a seccomp
 * filter that kills, a breakpoint that never fires) happens to nobody else. Not for signal
 * handlers.
 */
#ifndef EVENT_EXPERIMENT_H
#define EVENT_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Shared between the child, which fills it in, and the parent. */
struct experiment {
	int error;	      /* -errno of the step that failed; 0 */
	uint32_t hits;	      /* SIGTRAPs of a perf event */
	uint64_t data;	      /* of the last one: its event's data, */
	uint64_t address;     /* the address it watches, */
	uint64_t pc;	      /* where the thread was, */
	bool late;	      /* and whether it came late */
	int64_t value;	      /* whatever the experiment measured */
	const void *argument; /* what the body works on, in either process's memory */
	pid_t child;
	int ending;	    /* signal that ended the child early; 0 */
	const char *making; /* the system call of our own that the child is in; NULL in the body */
	/* Between experiment_start() and experiment_go() the child waits. */
	uint32_t go;
};

typedef void experiment_fn(struct experiment *experiment);

/* In the child, where what comes may end it: by SIGSYS, as the kernel has it, and without a core
 * file in the program's directory. */
void experiment_may_end(void);

/*
 * Run `body` in a child that counts its perf SIGTRAPs, for at most a few seconds. NULL when no
 * child can be had; free with experiment_end(). experiment_start() returns while the child waits,
 * so that events can be opened on it; experiment_finish() lets it go and waits for its end.
 */
struct experiment *experiment_run(experiment_fn *body);
struct experiment *experiment_run_with(experiment_fn *body, const void *argument);
struct experiment *experiment_start(experiment_fn *body);
void experiment_finish(struct experiment *experiment);
void experiment_end(struct experiment *experiment);

#endif
