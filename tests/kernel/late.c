// SPDX-License-Identifier: Apache-2.0
/*
 * A hit should be told with the sig_data that its event had when the access was made. A thread that
 * is scheduled away between the access and the signal is told what the event has by then: here
 * another thread gives it new data, having seen the store.
 */
#include "kernel.h"
#include <pthread.h>
#include <time.h>

static volatile unsigned long watched;
static volatile long hits, late;
static int ready[2];
static pid_t writer;

static void look(int number, siginfo_t *info, void *context)
{
	unsigned long data = *(unsigned long *)((char *)info + 24); /* si_perf_data */

	(void)number, (void)context;
	hits++;
	late += data > watched; /* data: one more than what was there when it was given */
}

static void *write_all(void *unused)
{
	char byte = 0;

	writer = (pid_t)syscall(SYS_gettid);
	if (write(ready[1], &byte, 1) == 1)
		for (;;)
			watched++;
	return unused;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO};
	struct perf_event_attr attr = kernel_watchpoint((void *)&watched);
	time_t end = time(NULL) + 5;
	pthread_t thread;
	long fd, changes = 0;
	char byte;

	sigaction(SIGTRAP, &action, NULL);
	if (pipe(ready) || pthread_create(&thread, NULL, write_all, NULL) ||
	    read(ready[0], &byte, 1) != 1)
		return kernel_cannot("a thread");
	if ((fd = kernel_open(&attr, writer)) < 0)
		return kernel_cannot("perf_event_open");
	for (attr.disabled = 0; time(NULL) < end; changes++) {
		ioctl((int)fd, PERF_EVENT_IOC_DISABLE, 0);
		attr.sig_data = watched + 1;
		if (ioctl((int)fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr))
			return kernel_cannot("PERF_EVENT_IOC_MODIFY_ATTRIBUTES");
		usleep(20);
	}
	return kernel_verdict(!late, "%ld changes, %ld hits, %ld told with data of a later time",
			      changes, hits, late);
}
