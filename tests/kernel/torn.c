// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that inherits a breakpoint event should find its attributes as they were before or after
 * PERF_EVENT_IOC_MODIFY_ATTRIBUTES. It copies them while that ioctl writes them one by one:
 * clone(2) holds its creator's context, not the one where the event was opened. An address with the
 * length of another place is no breakpoint, and clone(2) fails with EINVAL.
 */
#include "kernel.h"
#include <pthread.h>
#include <time.h>

static char watched[16] __attribute__((aligned(16)));
static volatile long created, refused;
static volatile int over;

static void *nothing(void *unused)
{
	return unused;
}

static void *create_all(void *unused)
{
	pthread_t thread;

	while (!over)
		if (pthread_create(&thread, NULL, nothing, NULL) == EINVAL)
			__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
		else if (!pthread_join(thread, NULL))
			__atomic_fetch_add(&created, 1, __ATOMIC_RELAXED);
	return unused;
}

int main(void)
{
	struct perf_event_attr attr = kernel_watchpoint(watched);
	time_t end = time(NULL) + 5;
	pthread_t creator[2];
	int fd = kernel_open_inherited(watched);
	long changes = 0;

	attr.inherit = attr.inherit_thread = 1;
	if (fd < 0)
		return kernel_cannot("perf_event_open");
	for (int i = 0; i < 2; i++)
		if (pthread_create(&creator[i], NULL, create_all, NULL))
			return kernel_cannot("a thread");
	for (; time(NULL) < end; changes++) {
		attr.bp_addr = (unsigned long)watched + changes % 2;
		attr.bp_len = changes % 2 ? 1 : 8;
		if (ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr))
			return kernel_cannot("PERF_EVENT_IOC_MODIFY_ATTRIBUTES");
	}
	over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(creator[i], NULL);
	return kernel_verdict(!refused, "%ld changes, %ld of %ld threads could not be created",
			      changes, refused, created + refused);
}
