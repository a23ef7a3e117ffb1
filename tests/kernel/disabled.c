// SPDX-License-Identifier: Apache-2.0
/*
 * Inherited watchpoints that are open and disabled should cost nothing. Each switch between two
 * threads of a process pays for their contexts all the same. The limit is generous: five percent.
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

static double seconds_of_turns(void)
{
	struct timespec from, to;
	char byte = 0;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < TURNS; i++)
		if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
			return 0;
	clock_gettime(CLOCK_MONOTONIC, &to);
	return to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
}

int main(void)
{
	double bare = 1e9, open = 1e9;

	if (pipe(ping) || pipe(pong))
		return kernel_cannot("pipe");
	for (int round = 0; round < 10; round++) {
		pthread_t thread;
		int fds[4] = {-1, -1, -1, -1};

		for (int i = 0; i < 4 && round % 2; i++)
			if ((fds[i] = kernel_open_inherited((void *)&watched[i])) < 0)
				return kernel_cannot("perf_event_open");
		pthread_create(&thread, NULL, answer, NULL);
		double took = seconds_of_turns(), *least = round % 2 ? &open : &bare;
		*least = took < *least ? took : *least;
		if (write(ping[1], "x", 1) == 1)
			pthread_join(thread, NULL);
		for (int i = 0; i < 4; i++)
			close(fds[i]);
	}
	return kernel_verdict(open < bare * 1.05,
			      "a switch there and back: %.2f us, with four disabled events %.2f us",
			      bare / TURNS * 1e6, open / TURNS * 1e6);
}
