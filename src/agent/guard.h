/* SPDX-License-Identifier: Apache-2.0 */
/* What the preload library that guards blocks adds to the one without. */
#ifndef AGENT_GUARD_H
#define AGENT_GUARD_H

#include <stdbool.h>

struct area_process;

struct agent_guard {
	/* Called before the process is announced, also in a forked child. `waits`: the process will
	 * wait until the controller lets it go. */
	void (*begin)(struct area_process *process, bool waits);
	void (*begun)(struct area_process *process); /* the controller has let the process go */
	void (*end)(void);			     /* the process ends, and is still watched */
	/* The process is about to limit its own memory (`limit`: a struct rlimit, which may hold
	 * anything) or to lock it. */
	void (*limit)(long resource, const void *limit);
	void (*lock)(void);
};

#endif
