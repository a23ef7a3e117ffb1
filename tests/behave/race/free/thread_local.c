/* SPDX-License-Identifier: Apache-2.0 */
/* Thread-local counters of plain type; each thread adds its own to the sum at the end. */
#include "../harness.h"

static __thread unsigned long events;
static __thread char scratch[64];
static unsigned long total;

static void *count(void *arg)
{
	while (running()) {
		events++;
		memset(scratch, (int)(intptr_t)arg, sizeof(scratch));
		pace_hot();
	}
	__atomic_fetch_add(&total, events, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(count, harness_threads);
	return harness_finish();
}
