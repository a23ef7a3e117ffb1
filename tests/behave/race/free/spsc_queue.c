/* SPDX-License-Identifier: Apache-2.0 */
/* A single-producer queue with acquire and release: plain MOVs on x86, plain payload. */
#include "../harness.h"

#define SLOTS 64

static struct {
	unsigned head;
	char padding[60];
	unsigned tail;
	char padding_too[60];
	struct {
		int value;
		int check;
	} slots[SLOTS];
} ring;

static int broken;

static void *produce(void *arg)
{
	int value = 0;

	(void)arg;
	while (running()) {
		unsigned head = ring.head;

		if (head - __atomic_load_n(&ring.tail, __ATOMIC_ACQUIRE) < SLOTS) {
			ring.slots[head % SLOTS].value = ++value;
			ring.slots[head % SLOTS].check = ~value;
			__atomic_store_n(&ring.head, head + 1, __ATOMIC_RELEASE);
		}
		pace_hot();
	}
	return NULL;
}

static void *drain(void *arg)
{
	(void)arg;
	while (running()) {
		unsigned tail = ring.tail;

		while (tail != __atomic_load_n(&ring.head, __ATOMIC_ACQUIRE)) {
			broken |= ring.slots[tail % SLOTS].check != ~ring.slots[tail % SLOTS].value;
			tail++;
			__atomic_store_n(&ring.tail, tail, __ATOMIC_RELEASE);
		}
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(produce, 1);
	harness_start(drain, 1);
	harness_finish();
	return broken;
}
