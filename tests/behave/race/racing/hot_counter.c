/* SPDX-License-Identifier: Apache-2.0 */
/* Request counters bumped by every worker without a lock: each loses updates. */
#include "../harness.h"

static struct {
	unsigned long requests;
	unsigned long bytes;
} stats;

static void *serve(void *arg)
{
	unsigned long size = 100 + (uintptr_t)arg;

	while (running()) {
		stats.requests++;    /* RACE a */
		stats.bytes += size; /* RACE b */
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(serve, harness_threads);
	return harness_finish();
}
