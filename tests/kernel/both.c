// SPDX-License-Identifier: Apache-2.0
/*
 * One store trips two watchpoints with sigtrap, one on all of its bytes and one on some. Each
 * should be told with its sig_data; SIGTRAP is no real-time signal, so the second one of a thread
 * is dropped while the first is pending (send_sig_perf()), and its hit is lost without a trace.
 */
#include "kernel.h"

static volatile unsigned long watched;
static volatile int hits[3];

static void count(int number, siginfo_t *info, void *context)
{
	/* sig_data: si_perf_data, which older C libraries have no name for */
	unsigned long data = *(unsigned long *)((char *)info + 24);

	(void)number, (void)context;
	hits[data < 3 ? data : 0]++;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	for (unsigned long i = 1; i < 3; i++) {
		struct perf_event_attr attr = kernel_watchpoint((void *)&watched);
		int fd;

		attr.disabled = 0;
		attr.sig_data = i;
		if (i == 2)
			attr.bp_len = HW_BREAKPOINT_LEN_4;
		fd = kernel_open(&attr, 0);
		if (fd < 0)
			return kernel_cannot("perf_event_open");
	}
	for (int i = 0; i < 10; i++)
		watched = (unsigned long)i;
	return kernel_verdict(hits[1] == 10 && hits[2] == 10 && !hits[0],
			      "10 writes trip two watchpoints: %d and %d hits told, %d unknown",
			      hits[1], hits[2], hits[0]);
}
