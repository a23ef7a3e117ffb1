/* SPDX-License-Identifier: Apache-2.0 */
/* A timer thread caches the time of day in a plain global that all workers read. */
#include "../harness.h"

static volatile unsigned current_time;

static void *tick(void *arg)
{
	struct timespec now;

	(void)arg;
	while (running()) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		current_time = (unsigned)(now.tv_sec * 10 + now.tv_nsec / 100000000); /* RACE a */
		nap(100000);
	}
	return NULL;
}

static void *worker(void *arg)
{
	(void)arg;
	while (running()) {
		consume(current_time); /* RACE a */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 5);
	harness_start(tick, 1);
	harness_start(worker, harness_threads - 1);
	return harness_finish();
}
