/* SPDX-License-Identifier: Apache-2.0 */
/* One writer, many readers of a plain global, all in tight loops. */
#include "../harness.h"

static long temperature;

static void *sense(void *arg)
{
	long now = (intptr_t)arg;

	while (running()) {
		now = (now * 5 + 1) % 97;
		temperature = now; /* RACE a */
		pace_hot();
	}
	return NULL;
}

static void *display(void *arg)
{
	(void)arg;
	while (running()) {
		consume(temperature); /* RACE a */
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(sense, 1);
	harness_start(display, harness_threads - 1);
	return harness_finish();
}
