/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While a thread makes calls for us it runs before others, as the thread that waits for it does
 * (rush.h): each of its calls would wait for a CPU, on a busy machine among many.
 *
 * It is put back while the thread still stands. Afterwards the program itself would run with the
 * policy, keep the CPU from whoever puts it back, see it and hand it to its children.
 */
#ifndef INJECT_URGENCY_H
#define INJECT_URGENCY_H

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#define URGENCY_SLACK 32 /* bytes: ns in decimal, and a newline */

struct urgency {
	bool raised;
	int policy;		   /* the thread's before that, … */
	char slack[URGENCY_SLACK]; /* … and the slack of its timers, which the policy takes away */
};

static inline int urgency_slack_open(pid_t tid, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/timerslack_ns", (int)tid);
	return open(path, flags | O_CLOEXEC);
}

static inline bool urgency_slack_read(pid_t tid, char slack[URGENCY_SLACK])
{
	int fd = urgency_slack_open(tid, O_RDONLY);
	ssize_t length = fd < 0 ? -1 : read(fd, slack, URGENCY_SLACK - 1);

	if (fd >= 0)
		close(fd);
	slack[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static inline void urgency_slack_write(pid_t tid, const char slack[URGENCY_SLACK])
{
	char now[URGENCY_SLACK];
	int fd;

	/* The kernel itself puts the default back, which nearly all have. */
	if (urgency_slack_read(tid, now) && strtoull(now, NULL, 10) == strtoull(slack, NULL, 10))
		return;
	fd = urgency_slack_open(tid, O_WRONLY);
	if (fd < 0)
		return;
	dprintf(fd, "%s", slack);
	close(fd);
}

/* A thread with a policy of its own keeps that. */
static inline void urgency_begin(struct urgency *urgency, pid_t tid)
{
	const struct sched_param first = {.sched_priority = 1};

	urgency->raised = false;
	urgency->policy = sched_getscheduler(tid);
	if ((urgency->policy == SCHED_OTHER || urgency->policy == SCHED_BATCH) &&
	    urgency_slack_read(tid, urgency->slack))
		urgency->raised = sched_setscheduler(tid, SCHED_FIFO, &first) == 0;
}

static inline void urgency_end(struct urgency *urgency, pid_t tid)
{
	const struct sched_param none = {0};

	if (!urgency->raised)
		return;
	sched_setscheduler(tid, urgency->policy, &none);
	urgency->raised = false;
	urgency_slack_write(tid, urgency->slack);
}

#endif
