/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP's atomic directives in their forms: loads and stores of these are plain moves. */
#include "../harness.h"

static int counter, published, claims;

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
		consume(now + before + read);
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
