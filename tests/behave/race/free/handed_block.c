/* SPDX-License-Identifier: Apache-2.0 */
/* A release store hands a block over; its new owner writes where the store was, and frees it. */
#include "../harness.h"

struct block {
	int ready;
	long data[5];
};

static struct block *boxes[2];

static void *producer(void *arg)
{
	struct block **box = &boxes[(intptr_t)arg];

	while (running()) {
		struct block *block;

		if (__atomic_load_n(box, __ATOMIC_ACQUIRE)) {
			work(50);
			continue;
		}
		block = malloc(sizeof(*block));
		block->ready = 0;
		__atomic_store_n(box, block, __ATOMIC_RELEASE);
		for (int i = 0; i < 5; i++)
			block->data[i] = i;
		__atomic_store_n(&block->ready, 1, __ATOMIC_RELEASE);
		pace_hot();
	}
	return NULL;
}

static void *consumer(void *arg)
{
	while (running()) {
		for (int i = 0; i < 2; i++) {
			struct block *block = __atomic_load_n(&boxes[i], __ATOMIC_ACQUIRE);

			if (!block)
				continue;
			while (!__atomic_load_n(&block->ready, __ATOMIC_ACQUIRE))
				work(5);
			block->ready = 5;
			consume(block->data[3]);
			free(block);
			__atomic_store_n(&boxes[i], NULL, __ATOMIC_RELEASE);
		}
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(producer, 2);
	harness_start(consumer, 1);
	return harness_finish();
}
