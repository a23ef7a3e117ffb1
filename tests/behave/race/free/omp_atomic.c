/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP's atomic directives in their forms: loads and stores of these are plain moves. */
#include "../harness.h"

static int counter, published, claims, handed;

/* Neither statement names what it accesses. */
static __attribute__((noinline)) void put(int *to, int value)
{
#pragma omp atomic write
	*to = value;
}

static __attribute__((noinline)) int get(const int *from)
{
	int value;

#pragma omp atomic read
	value = *from;
	return value;
}

static void *worker(void *arg)
{
	int worker = (int)(intptr_t)arg, now, before, read;

	while (running()) {
#pragma omp atomic write
		published = worker;
#pragma omp atomic read
		now = counter;
#pragma omp atomic
		counter++;
#pragma omp atomic capture
		{
			before = claims;
			claims += 2;
		}
#ifdef _OPENMP
#pragma omp atomic read /* another's, as a rule */
#endif

		read = published;
		put(&handed, worker);
		consume(now + before + read + get(&handed));
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(worker, harness_threads);
	return harness_finish();
}
