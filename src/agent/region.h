/* SPDX-License-Identifier: Apache-2.0 */
/* What the preload library with regions adds to the one without. */
#ifndef AGENT_REGION_H
#define AGENT_REGION_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

struct area_process;

struct agent_regions {
	/* Open and close what the controller wants now. Async-signal-safe. */
	void (*follow)(void);
	/* All of them: this process is watched no longer, or is a forked child that has yet to be.
	 */
	void (*close)(void);
	/* For good, with all that they need in this process. */
	void (*end)(void);
	/* At each SIGTRAP: true if it was the end of a region's single step and nothing else. */
	bool (*begin)(siginfo_t *info, ucontext_t *context);
	/* Before the context is returned to. */
	void (*leave)(ucontext_t *context);
};

#endif
