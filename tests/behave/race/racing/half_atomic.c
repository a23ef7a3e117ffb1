/* SPDX-License-Identifier: Apache-2.0 */
/* One side is atomic, the other plain: still a race. */
#include "../harness.h"

static long tickets;

static void *issue(void *arg)
{
	(void)arg;
	while (running()) {
		__atomic_fetch_add(&tickets, 1, __ATOMIC_RELAXED); /* RACE a */
		pace_warm();
	}
	return NULL;
}

static void *reset(void *arg)
{
	(void)arg;
	while (running()) {
		if (tickets > 100)	/* RACE a */
			tickets -= 100; /* RACE a */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(issue, harness_threads - 1);
	harness_start(reset, 1);
	return harness_finish();
}
