/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions end in a load and a LOCK CMPXCHG of the shared variable, which go by any line of the
 * construct: also by one that names the thread's own copy, or by that of a function it calls. */
#include "../harness.h"

#define COUNT 64

static double value[COUNT], largest;

static inline double weight(int i)
{
	return value[i] * 1.5 + 1;
}

static float sum_up(int threads)
{
	float sum = 0;

#pragma omp parallel for reduction(+ : sum) num_threads(threads)
	for (int i = 0; i < COUNT; i++)
		sum += value[i];
	return sum;
}

static double products(int threads)
{
	double product = 1, sum = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp for reduction(* : product) nowait
		for (int i = 0; i < COUNT; i++)
			product *= weight(i);
#pragma omp for reduction(+ : sum) reduction(max : largest)
		for (int i = 0; i < COUNT; i++) {
			sum += weight(i);
			largest = value[i] > largest ? value[i] : largest;
		}
	}
	return product + sum;
}

static void *stop(void *arg)
{
	harness_sleep();
	__atomic_store_n(&harness_stop, 1, __ATOMIC_RELAXED);
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	for (int i = 0; i < COUNT; i++)
		value[i] = i;
	harness_start(stop, 1);
	while (running())
		consume((int)sum_up(harness_threads) + (products(harness_threads) > 1));
	return harness_join();
}
