/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread keeps a counter in TLS and publishes its address; a collector resets them. */
#include "../harness.h"

static __thread unsigned long allocations;
static unsigned long *counters[HARNESS_MAX_THREADS];
static int leaving;

static void *allocate(void *arg)
{
	__atomic_store_n(&counters[(intptr_t)arg], &allocations, __ATOMIC_RELEASE);
	while (running()) {
		allocations++; /* RACE a */
		pace_warm();
	}
	/* The storage must outlive the collector. */
	while (!__atomic_load_n(&leaving, __ATOMIC_ACQUIRE))
		nap(1000);
	return NULL;
}

static void *collect(void *arg)
{
	(void)arg;
	while (running()) {
		for (int i = 0; i < harness_threads - 1; i++) {
			unsigned long *counter = __atomic_load_n(&counters[i], __ATOMIC_ACQUIRE);

			if (counter && *counter > 100) /* RACE a */
				*counter = 0;	       /* RACE a */
		}
		nap(3000);
	}
	__atomic_store_n(&leaving, 1, __ATOMIC_RELEASE);
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 5);
	harness_start(allocate, harness_threads - 1);
	harness_start(collect, 1);
	return harness_finish();
}
