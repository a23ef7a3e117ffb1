/* SPDX-License-Identifier: Apache-2.0 */
/* A consumer polls a plain flag that its producer sets; both reuse one plain slot. */
#include "../harness.h"

static int ready;
static int slot;

static void *produce(void *arg)
{
	(void)arg;
	while (running()) {
		if (!ready) {	   /* RACE a */
			slot++;	   /* RACE b */
			ready = 1; /* RACE a */
		}
		nap(500);
	}
	return NULL;
}

static void *consume_slots(void *arg)
{
	(void)arg;
	while (running()) {
		if (ready) {	       /* RACE a */
			consume(slot); /* RACE b */
			ready = 0;     /* RACE a */
		}
		nap(500);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(produce, 1);
	harness_start(consume_slots, harness_threads - 1);
	return harness_finish();
}
