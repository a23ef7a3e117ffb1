/* SPDX-License-Identifier: Apache-2.0 */
/* A 64-bit address is written in two halves and read whole, or by its last byte alone. */
#include "../harness.h"

static union {
	uint64_t whole;
	uint32_t half[2];
	uint8_t byte[8];
} route;

static void *write_halves(void *arg)
{
	uint32_t value = 0;

	(void)arg;
	while (running()) {
		value++;
		route.half[0] = value;	/* RACE a */
		route.half[1] = ~value; /* RACE a */
		pace_warm();
	}
	return NULL;
}

static void *read_whole(void *arg)
{
	(void)arg;
	while (running()) {
		consume(route.whole);	     /* RACE a */
		consume((int)route.byte[6]); /* RACE a */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(write_halves, 1);
	harness_start(read_whole, harness_threads - 1);
	return harness_finish();
}
