/* SPDX-License-Identifier: Apache-2.0 */
/* What the preload library with regions adds to the one without. */
#ifndef AGENT_REGION_H
#define AGENT_REGION_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

struct area_process;

struct agent_regions {
	/* Opens and closes regions as the controller wants them now. Async-signal-safe. */
	void (*follow)(void);
	/* Closes all regions: this process is watched no longer, or is a forked child that has yet
	 * to be. */
	void (*close)(void);
	/* Closes all regions for good, with everything that they need in this process. */
	void (*end)(void);
	/* Called at each SIGTRAP: true if it was the end of a region's single step and nothing
	 * else. */
	bool (*begin)(siginfo_t *info, ucontext_t *context);
	/* Called before a handler returns to `context`. */
	void (*leave)(ucontext_t *context);
};

#endif
