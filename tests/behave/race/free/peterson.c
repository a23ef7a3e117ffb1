/* SPDX-License-Identifier: Apache-2.0 */
/* Peterson's lock for two threads on sequentially consistent atomics. */
#include "../harness.h"
#include <stdatomic.h>

static atomic_int wants[2];
static atomic_int victim;
static long guarded;

static void *worker(void *arg)
{
	int self = (int)(intptr_t)arg;

	while (running()) {
		atomic_store(&wants[self], 1);
		atomic_store(&victim, self);
		while (atomic_load(&wants[1 - self]) && atomic_load(&victim) == self)
			nap(50);
		guarded++;
		atomic_store(&wants[self], 0);
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(worker, 2);
	return harness_finish();
}
