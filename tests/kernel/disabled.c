// SPDX-License-Identifier: Apache-2.0
/*
 * Inherited watchpoints that are open and disabled should cost nothing. Each switch between two
 * threads of a process pays for their contexts all the same, and goes on to when they are closed.
 * The limit is generous: five percent.
 */
#include "kernel.h"
#include <pthread.h>
#include <time.h>

enum { TURNS = 20000 };
static volatile long watched[4];
static int ping[2], pong[2];

static void *answer(void *unused)
{
	char byte;
	while (read(ping[0], &byte, 1) == 1 && !byte && write(pong[1], &byte, 1) == 1)
		;
	return unused;
}

/* us for a switch there and back, at least */
static void measure(double *least)
{
	struct timespec from, to;
	char byte = 0;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < TURNS; i++)
		if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
			return;
	clock_gettime(CLOCK_MONOTONIC, &to);
	double took = (to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3;
	*least = took / TURNS < *least ? took / TURNS : *least;
}

int main(void)
{
	double bare = 1e9, open = 1e9, closed = 1e9;
	if (pipe(ping) || pipe(pong))
		return kernel_cannot("pipe");
	for (int round = 0; round < 10; round++) {
		pthread_t thread;
		int fds[4];
		for (int i = 0; i < 4 && round % 2; i++)
			if ((fds[i] = kernel_open_inherited((void *)&watched[i])) < 0)
				return kernel_cannot("perf_event_open");
		pthread_create(&thread, NULL, answer, NULL);
		measure(round % 2 ? &open : &bare);
		for (int i = 0; i < 4 && round % 2; i++)
			close(fds[i]);
		if (round % 2)
			measure(&closed);
		if (write(ping[1], "x", 1) == 1)
			pthread_join(thread, NULL);
	}
	return kernel_verdict(open < bare * 1.05,
			      "there and back %.2f us, with disabled events %.2f, closed %.2f",
			      bare, open, closed);
}
