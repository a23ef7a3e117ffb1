/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/urgency.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int open_slack(pid_t tid, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/timerslack_ns", (int)tid);
	return open(path, flags | O_CLOEXEC);
}

static bool read_slack(pid_t tid, char slack[URGENCY_SLACK])
{
	int fd = open_slack(tid, O_RDONLY);
	ssize_t length = fd < 0 ? -1 : read(fd, slack, URGENCY_SLACK - 1);

	if (fd >= 0)
		close(fd);
	slack[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static void write_slack(pid_t tid, const char slack[URGENCY_SLACK])
{
	char now[URGENCY_SLACK];
	int fd;

	/* The kernel itself puts the default back, which nearly all have. */
	if (read_slack(tid, now) && strtoull(now, NULL, 10) == strtoull(slack, NULL, 10))
		return;
	fd = open_slack(tid, O_WRONLY);
	if (fd < 0)
		return;
	dprintf(fd, "%s", slack);
	close(fd);
}

void urgency_begin(struct urgency *urgency, pid_t tid)
{
	const struct sched_param first = {.sched_priority = 1};

	urgency->raised = false;
	urgency->policy = sched_getscheduler(tid);
	if ((urgency->policy == SCHED_OTHER || urgency->policy == SCHED_BATCH) &&
	    read_slack(tid, urgency->slack))
		urgency->raised = sched_setscheduler(tid, SCHED_FIFO, &first) == 0;
}

void urgency_end(struct urgency *urgency, pid_t tid)
{
	const struct sched_param none = {0};

	if (!urgency->raised)
		return;
	sched_setscheduler(tid, urgency->policy, &none);
	urgency->raised = false;
	write_slack(tid, urgency->slack);
}
