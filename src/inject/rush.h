/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While a thread of another process is stopped for us: no signal ends us halfway (for SIGKILL see
 * apart.h), and we run before others where that is permitted.
 */
#ifndef INJECT_RUSH_H
#define INJECT_RUSH_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct rush {
	sigset_t mask;
	int policy;
	struct sched_param parameter;
	bool raised;
};

static inline struct rush rush_begin(void)
{
	const struct sched_param first = {.sched_priority = 1};
	struct rush rush = {.policy = sched_getscheduler(0)};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &rush.mask);
	sched_getparam(0, &rush.parameter);
	rush.raised = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == 0;
	return rush;
}

static inline void rush_end(const struct rush *rush)
{
	if (rush->raised)
		sched_setscheduler(0, rush->policy, &rush->parameter);
	sigprocmask(SIG_SETMASK, &rush->mask, NULL);
}

#endif
