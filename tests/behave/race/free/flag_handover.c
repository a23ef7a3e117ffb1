/* SPDX-License-Identifier: Apache-2.0 */
/* Plain data handed round a ring of threads by one atomic turn that all spin on. */
#include "../harness.h"
#include <stdatomic.h>

static atomic_int turn;
static long baton;
static char trail[32];

static void *run(void *arg)
{
	int self = (int)(intptr_t)arg;

	while (running()) {
		if (atomic_load_explicit(&turn, memory_order_acquire) != self) {
			nap(100);
			continue;
		}
		baton++;
		trail[baton & 31] = (char)self;
		atomic_store_explicit(&turn, (self + 1) % harness_threads, memory_order_release);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(run, harness_threads);
	return harness_finish();
}
