/* SPDX-License-Identifier: Apache-2.0 */
/* A stencil in two phases with one barrier too few: neighbours read cells being written. */
#include "../harness.h"

#define CELLS 64

static pthread_barrier_t barrier;
static int cells[CELLS];
static int last;

static void *relax(void *arg)
{
	int self = (int)(intptr_t)arg;

	for (;;) {
		int left, right;

		/* One thread decides for all, so that none is left at the barrier. */
		if (self == 0)
			__atomic_store_n(&last, !running(), __ATOMIC_RELAXED);
		pthread_barrier_wait(&barrier);
		if (__atomic_load_n(&last, __ATOMIC_RELAXED))
			return NULL;
		left = cells[(self + CELLS - 1) % CELLS]; /* RACE a */
		right = cells[(self + 1) % CELLS];	  /* RACE a */
		work(1000);
		cells[self] = (left + right) / 2 + (left & 1); /* RACE a */
		nap(700);
		pthread_barrier_wait(&barrier);
	}
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	pthread_barrier_init(&barrier, NULL, harness_threads);
	harness_start(relax, harness_threads);
	return harness_finish();
}
