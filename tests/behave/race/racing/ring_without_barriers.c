/* SPDX-License-Identifier: Apache-2.0 */
/* A single-producer ring whose head and tail are plain words. */
#include "../harness.h"

#define SLOTS 64

static struct {
	unsigned head;
	char padding[60];
	unsigned tail;
	char padding_too[60];
	int slots[SLOTS];
} ring;

static void *produce(void *arg)
{
	int value = 0;

	(void)arg;
	while (running()) {
		if (ring.head - ring.tail < SLOTS) {		 /* RACE a */
			ring.slots[ring.head % SLOTS] = value++; /* RACE b */
			ring.head++;				 /* RACE a */
		}
		pace_warm();
	}
	return NULL;
}

static void *drain(void *arg)
{
	(void)arg;
	while (running()) {
		while (ring.tail != ring.head) {		/* RACE a */
			consume(ring.slots[ring.tail % SLOTS]); /* RACE b */
			ring.tail++;				/* RACE a */
		}
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(produce, 1);
	harness_start(drain, harness_threads - 1);
	return harness_finish();
}
