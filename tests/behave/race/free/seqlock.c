/* SPDX-License-Identifier: Apache-2.0 */
/* A seqlock whose payload is atomic too, relaxed, as C11 demands. */
#include "../harness.h"
#include <stdatomic.h>

#define WORDS 4

static atomic_uint sequence;
static atomic_long payload[WORDS];
static atomic_long torn;

static void *writer(void *arg)
{
	long value = 0;

	(void)arg;
	while (running()) {
		unsigned start = atomic_load_explicit(&sequence, memory_order_relaxed);

		atomic_store_explicit(&sequence, start + 1, memory_order_relaxed);
		atomic_thread_fence(memory_order_release);
		value++;
		for (int i = 0; i < WORDS; i++)
			atomic_store_explicit(&payload[i], value, memory_order_relaxed);
		atomic_store_explicit(&sequence, start + 2, memory_order_release);
		pace_warm();
	}
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	while (running()) {
		unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
		long words[WORDS];

		for (int i = 0; i < WORDS; i++)
			words[i] = atomic_load_explicit(&payload[i], memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		if (!(before & 1) &&
		    before == atomic_load_explicit(&sequence, memory_order_relaxed) &&
		    words[0] != words[WORDS - 1])
			atomic_fetch_add(&torn, 1);
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(writer, 1);
	harness_start(reader, harness_threads - 1);
	harness_finish();
	return atomic_load(&torn) != 0;
}
