/* SPDX-License-Identifier: Apache-2.0 */
/* C11 atomics, relaxed everywhere: on x86 their loads and stores are plain MOVs. */
#include "../harness.h"
#include <stdatomic.h>
#include <stdbool.h>

struct statistics {
	atomic_ulong requests;
	_Atomic(unsigned char) state;
	atomic_bool urgent;
	_Atomic short level;
};

static struct statistics statistics;
static atomic_int current_time;

static void *worker(void *arg)
{
	unsigned long mine = (uintptr_t)arg;

	while (running()) {
		/* The common single-writer idiom: load, add, store; lost updates are accepted. */
		unsigned long seen =
			atomic_load_explicit(&statistics.requests, memory_order_relaxed);

		atomic_store_explicit(&statistics.requests, seen + 1, memory_order_relaxed);
		atomic_store_explicit(&statistics.state, (unsigned char)mine, memory_order_relaxed);
		atomic_store_explicit(&statistics.urgent, mine & 1, memory_order_relaxed);
		atomic_store_explicit(&statistics.level, (short)mine, memory_order_relaxed);
		consume(atomic_load_explicit(&current_time, memory_order_relaxed));
		mine++;
		pace_hot();
	}
	return NULL;
}

static void *observe(void *arg)
{
	(void)arg;
	while (running()) {
		consume(atomic_load_explicit(&statistics.requests, memory_order_relaxed));
		consume((int)atomic_load_explicit(&statistics.state, memory_order_relaxed));
		consume((int)atomic_load_explicit(&statistics.urgent, memory_order_relaxed));
		consume(atomic_load_explicit(&statistics.level, memory_order_relaxed));
		atomic_store_explicit(&current_time, 1, memory_order_relaxed);
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(worker, harness_threads - 1);
	harness_start(observe, 1);
	return harness_finish();
}
