/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/urgency.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SLACK_LENGTH 32 /* bytes: ns in decimal, and a newline */

static bool read_slack(const struct urgency *urgency, unsigned long long *slack)
{
	char text[SLACK_LENGTH];
	ssize_t length = pread(urgency->fd, text, sizeof(text) - 1, 0);

	if (length <= 0)
		return false;
	text[length] = '\0';
	*slack = strtoull(text, NULL, 10);
	return true;
}

static bool may_be_raised(const struct urgency *urgency)
{
	return urgency->policy == SCHED_OTHER || urgency->policy == SCHED_BATCH;
}

void urgency_prepare(struct urgency *urgency, pid_t tid)
{
	char path[64];

	*urgency = (struct urgency){.tid = tid, .fd = -1, .policy = sched_getscheduler(tid)};
	if (!may_be_raised(urgency))
		return;
	snprintf(path, sizeof(path), "/proc/%d/timerslack_ns", (int)tid);
	urgency->fd = open(path, O_RDWR | O_CLOEXEC);
}

void urgency_begin(struct urgency *urgency)
{
	const struct sched_param first = {.sched_priority = 1};

	/* Both may have changed before the thread stopped. */
	urgency->policy = sched_getscheduler(urgency->tid);
	if (may_be_raised(urgency) && urgency->fd >= 0 && read_slack(urgency, &urgency->slack))
		urgency->raised = sched_setscheduler(urgency->tid, SCHED_FIFO, &first) == 0;
}

void urgency_end(struct urgency *urgency)
{
	const struct sched_param none = {0};
	unsigned long long now;

	if (!urgency->raised)
		return;
	sched_setscheduler(urgency->tid, urgency->policy, &none);
	urgency->raised = false;
	/* The kernel itself puts the default back, which nearly all have. */
	if (!read_slack(urgency, &now) || now != urgency->slack)
		dprintf(urgency->fd, "%llu", urgency->slack);
}

void urgency_discard(struct urgency *urgency)
{
	if (urgency->fd >= 0)
		close(urgency->fd);
	urgency->fd = -1;
}
