/* SPDX-License-Identifier: Apache-2.0 */
/* 64 threads: a few busy ones update a gauge, the others look at it now and then. */
#include "../harness.h"

static int gauge;

static void *busy(void *arg)
{
	(void)arg;
	while (running()) {
		gauge += 3; /* RACE a */
		pace_warm();
	}
	return NULL;
}

static void *idle(void *arg)
{
	(void)arg;
	while (running()) {
		if (gauge > 1000) /* RACE a */
			work(100);
		nap(50000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 64);
	harness_start(busy, 4);
	harness_start(idle, harness_threads - 4);
	return harness_finish();
}
