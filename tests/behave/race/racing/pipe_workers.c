/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers that sleep and wake all the time, in pairs that send each other a request and its answer
 * over pipes, and a thread that seldom runs and changes what all of them read.
 */
#include "../pairs.h"

#ifndef LATE
#define LATE 0 /* seconds */
#endif

static struct {
	long rate;
	long burst;
} limits = {100, 10};
static long allowed;

static void *worker(void *arg)
{
	intptr_t index = (intptr_t)arg;
	long sum = 0;

	while (running()) {
		answer_partner(index);
		sum += limits.rate; /* RACE a */
	}
	leave_partner(index);
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
	workers = open_pairs(harness_threads - 1);
	if (!workers)
		return 2;
	harness_start(worker, workers);
	harness_start(housekeeper, 1);
	return harness_finish();
}
