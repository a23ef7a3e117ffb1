/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that mostly sleep stamp their heartbeat in the heap; a monitor reads them all. */
#include "../harness.h"

struct worker {
	unsigned long beats;
	char padding[56];
};

static struct worker *workers;

static void *beat(void *arg)
{
	struct worker *self = &workers[(intptr_t)arg];

	while (running()) {
		self->beats++; /* RACE a */
		nap(30000);
	}
	return NULL;
}

static void *monitor(void *arg)
{
	(void)arg;
	while (running()) {
		for (int i = 0; i < harness_threads - 1; i++)
			consume(workers[i].beats); /* RACE a */
		nap(25000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 16);
	workers = calloc(harness_threads, sizeof(*workers));
	if (!workers)
		return 2;
	harness_start(beat, harness_threads - 1);
	harness_start(monitor, 1);
	harness_finish();
	free(workers);
	return 0;
}
