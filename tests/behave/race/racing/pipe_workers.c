/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers that sleep and wake all the time, in pairs that send each other a request and its answer
 * over pipes, and a thread that seldom runs and changes what all of them read.
 */
#include "../harness.h"

#ifndef LATE
#define LATE 0 /* seconds */
#endif
#define PAIRS_MAX 8

static int pipes[2 * PAIRS_MAX][2];
static struct {
	long rate;
	long burst;
} limits = {100, 10};
static long allowed;

static void answer(int from, int to)
{
	char octet = 0;

	if (read(from, &octet, 1) != 1 || write(to, &octet, 1) != 1)
		__atomic_store_n(&harness_stop, 1, __ATOMIC_RELAXED);
}

static void *worker(void *arg)
{
	intptr_t index = (intptr_t)arg;
	long sum = 0;

	while (running()) {
		answer(pipes[index][0], pipes[index ^ 1][1]);
		sum += limits.rate; /* RACE a */
	}
	/* The partner may wait. */
	close(pipes[index ^ 1][1]);
	__atomic_fetch_add(&allowed, sum, __ATOMIC_RELAXED);
	return NULL;
}

static void *housekeeper(void *arg)
{
	(void)arg;
	for (int i = 0; i < LATE * 50 && running(); i++)
		nap(20000);
	while (running()) {
		nap(20000);
		work(500);
		limits.rate = 100 + (long)time(NULL) % 50; /* RACE a */
		limits.burst++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int workers;

	harness_init(argc, argv, 5);
	workers = harness_threads - 1 < 2 * PAIRS_MAX ? (harness_threads - 1) & ~1 : 2 * PAIRS_MAX;
	for (int i = 0; i < workers; i++)
		if (pipe(pipes[i]))
			return 2;
	for (int i = 0; i < workers; i += 2)
		if (write(pipes[i][1], "r", 1) != 1)
			return 2;
	harness_start(worker, workers);
	harness_start(housekeeper, 1);
	return harness_finish();
}
