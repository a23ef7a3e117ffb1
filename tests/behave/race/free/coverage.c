/* SPDX-License-Identifier: Apache-2.0 */
/* Built for coverage: the counters that the compiler puts beside the program race, and the program
 * does not. */
#include "../harness.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long even, odd;

static __attribute__((noinline)) void count(unsigned turn)
{
	pthread_mutex_lock(&lock);
	if (turn % 2)
		odd++;
	else
		even++;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
	(void)arg;
	for (unsigned turn = 0; running(); turn++) {
		count(turn);
		for (unsigned i = 0; i < 100; i++)
			consume(i % 3 ? turn : i);
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(worker, harness_threads);
	harness_finish();
	return even < odd;
}
