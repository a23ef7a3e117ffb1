// SPDX-License-Identifier: Apache-2.0
/*
 * PERF_EVENT_IOC_REFRESH on a watchpoint with sigtrap: it must fire as often as it was refreshed
 * for, and again when it is refreshed again (perf_event_open(2)). Linux 6.18: once used up, it
 * never fires again.
 */
#include "kernel.h"

static volatile long watched;
static volatile int hits;

static void count(int number)
{
	(void)number;
	hits++;
}

static int hits_of_writes(int writes)
{
	int before = hits;

	for (int i = 0; i < writes; i++)
		watched = i;
	return hits - before;
}

int main(void)
{
	struct perf_event_attr attr = kernel_watchpoint((void *)&watched);
	int fd, first, second;

	signal(SIGTRAP, count);
	fd = kernel_open(&attr, 0);
	if (fd < 0)
		return kernel_cannot("perf_event_open");
	if (ioctl(fd, PERF_EVENT_IOC_REFRESH, 3))
		return kernel_cannot("PERF_EVENT_IOC_REFRESH");
	first = hits_of_writes(5);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 2);
	second = hits_of_writes(5);
	return kernel_verdict(first == 3 && second == 2,
			      "refreshed for 3: %d hits of 5 writes; then for 2: %d", first,
			      second);
}
