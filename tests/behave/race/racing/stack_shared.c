/* SPDX-License-Identifier: Apache-2.0 */
/* A thread lets others write a local variable of its own and reads it meanwhile. */
#include "../harness.h"

static int *published;

static void *owner(void *arg)
{
	int answer = 0;

	(void)arg;
	__atomic_store_n(&published, &answer, __ATOMIC_RELEASE);
	while (running()) {
		consume(*(volatile int *)&answer); /* RACE a */
		pace_warm();
	}
	__atomic_store_n(&published, NULL, __ATOMIC_RELEASE);
	/* The others may still hold the address for one round. */
	nap(100000);
	return NULL;
}

static void *answerer(void *arg)
{
	int value = (int)(intptr_t)arg;

	while (running()) {
		int *answer = __atomic_load_n(&published, __ATOMIC_ACQUIRE);

		if (answer)
			*answer = value++; /* RACE a */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(owner, 1);
	harness_start(answerer, harness_threads - 1);
	return harness_finish();
}
