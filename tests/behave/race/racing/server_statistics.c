/* SPDX-License-Identifier: Apache-2.0 */
/* Per-thread statistics as servers keep them: the owner updates, the admin thread sums. */
#include "../harness.h"

struct thread_stats {
	uint64_t get_cmds;
	uint64_t set_cmds;
	uint64_t bytes_read;
	double latency;
	char padding[32];
};

static struct thread_stats *all;

static void *serve(void *arg)
{
	struct thread_stats *stats = &all[(intptr_t)arg];

	while (running()) {
		stats->get_cmds++;			/* RACE a */
		stats->set_cmds += stats->get_cmds % 3; /* RACE a b */
		stats->bytes_read += 512;		/* RACE c */
		stats->latency += 0.25;			/* RACE d */
		pace_warm();
	}
	return NULL;
}

static void *report(void *arg)
{
	(void)arg;
	while (running()) {
		uint64_t sum = 0;
		double latency = 0;

		for (int i = 0; i < harness_threads - 1; i++) {
			sum += all[i].get_cmds;	   /* RACE a */
			sum += all[i].set_cmds;	   /* RACE b */
			sum += all[i].bytes_read;  /* RACE c */
			latency += all[i].latency; /* RACE d */
		}
		consume(sum);
		__asm__ volatile("" : : "x"(latency));
		nap(5000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 9);
	all = calloc(harness_threads, sizeof(*all));
	if (!all)
		return 2;
	harness_start(serve, harness_threads - 1);
	harness_start(report, 1);
	harness_finish();
	free(all);
	return 0;
}
