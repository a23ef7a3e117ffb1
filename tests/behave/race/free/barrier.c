/* SPDX-License-Identifier: Apache-2.0 */
/* A stencil in two phases, each closed by a barrier. */
#include "../harness.h"

#define CELLS 64

static pthread_barrier_t barrier;
static int cells[2][CELLS];
static int last;

static void *relax(void *arg)
{
	int self = (int)(intptr_t)arg;
	int from = 0;

	for (;;) {
		int left = (self + CELLS - 1) % CELLS;
		int right = (self + 1) % CELLS;

		if (self == 0)
			last = !running();
		cells[1 - from][self] = cells[from][left] + cells[from][right] + 1;
		nap(500);
		pthread_barrier_wait(&barrier);
		if (last)
			return NULL;
		from = 1 - from;
		pthread_barrier_wait(&barrier);
	}
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 8);
	pthread_barrier_init(&barrier, NULL, harness_threads);
	harness_start(relax, harness_threads);
	return harness_finish();
}
