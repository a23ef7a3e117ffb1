/* SPDX-License-Identifier: Apache-2.0 */
/* Dekker's lock with relaxed atomics and sequentially consistent fences. */
#include "../harness.h"

static int interested[2];
static int favoured;
static long guarded[2];

static void enter(int self)
{
	__atomic_store_n(&interested[self], 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (__atomic_load_n(&interested[1 - self], __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&favoured, __ATOMIC_RELAXED) != self) {
			__atomic_store_n(&interested[self], 0, __ATOMIC_RELAXED);
			while (__atomic_load_n(&favoured, __ATOMIC_RELAXED) != self)
				nap(50);
			__atomic_store_n(&interested[self], 1, __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
		}
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static void leave(int self)
{
	__atomic_store_n(&favoured, 1 - self, __ATOMIC_RELEASE);
	__atomic_store_n(&interested[self], 0, __ATOMIC_RELEASE);
}

static void *worker(void *arg)
{
	int self = (int)(intptr_t)arg;

	while (running()) {
		enter(self);
		guarded[0]++;
		guarded[1] += guarded[0];
		leave(self);
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
