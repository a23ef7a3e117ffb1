/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrency Kit's single-producer, single-consumer ring; the records it carries are plain. */
#include "../harness.h"
#include <ck_ring.h>

#define SLOTS 64

struct record {
	int serial;
	int check;
};

static ck_ring_t ring;
static ck_ring_buffer_t slots[SLOTS];
static struct record records[2 * SLOTS];
static int broken;

static void *produce(void *arg)
{
	int serial = 0;

	(void)arg;
	while (running()) {
		struct record *record = &records[serial % (2 * SLOTS)];

		/* At most SLOTS - 1 are under way, so this record is ours again. */
		if (ck_ring_size(&ring) < SLOTS / 2) {
			record->serial = serial;
			record->check = ~serial;
			if (ck_ring_enqueue_spsc(&ring, slots, record))
				serial++;
		}
		pace_hot();
	}
	return NULL;
}

static void *drain(void *arg)
{
	struct record *record;

	(void)arg;
	while (running()) {
		while (ck_ring_dequeue_spsc(&ring, slots, &record))
			broken |= record->check != ~record->serial;
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	ck_ring_init(&ring, SLOTS);
	harness_start(produce, 1);
	harness_start(drain, 1);
	harness_finish();
	return broken;
}
