/* SPDX-License-Identifier: Apache-2.0 */
/* What the preload library that guards blocks adds to the one without. */
#ifndef AGENT_GUARD_H
#define AGENT_GUARD_H

#include <stdbool.h>

struct area_process;

struct agent_guard {
	/* Before it is announced, also when forked. `waits`: until it is let go. */
	void (*begin)(struct area_process *process, bool waits);
	void (*begun)(struct area_process *process); /* it was let go */
	void (*end)(void);			     /* the process ends, and is still watched */
	/* It is about to limit its own memory (a struct rlimit, which may be anything), or to lock
	 * it. */
	void (*limit)(long resource, const void *limit);
	void (*lock)(void);
};

#endif
