/* SPDX-License-Identifier: Apache-2.0 */
/* A statement beside one that OpenMP makes atomic, on variables of the function around both. */
#include "../harness.h"

static void *stop(void *arg)
{
	harness_sleep();
	__atomic_store_n(&harness_stop, 1, __ATOMIC_RELAXED);
	return arg;
}

int main(int argc, char **argv)
{
	int total = 0, last = 0;

	harness_init(argc, argv, 4);
	harness_start(stop, 1);
#pragma omp parallel num_threads(harness_threads)
	{
		while (running()) {
			int now;

#pragma omp atomic capture
			now = total++;
			last = now; /* RACE a */
			pace_hot();
		}
	}
	consume(last);
	return harness_join();
}
