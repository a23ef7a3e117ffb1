/* SPDX-License-Identifier: Apache-2.0 */
/* A job's progress, in the heap, is advanced by its worker and polled by its owner. */
#include "../harness.h"

struct job {
	char name[40];
	int progress;
	int cancelled;
};

static struct job *job;

static void *worker(void *arg)
{
	(void)arg;
	while (running()) {
		job->progress++; /* RACE a */
		pace_warm();
		if (job->cancelled) /* RACE b */
			work(10);
	}
	return NULL;
}

static void *owner(void *arg)
{
	int last = 0;

	(void)arg;
	while (running()) {
		int progress = job->progress; /* RACE a */

		job->cancelled = progress == last; /* RACE b */
		last = progress;
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	job = calloc(1, sizeof(*job));
	if (!job)
		return 2;
	harness_start(worker, 1);
	harness_start(owner, harness_threads - 1);
	harness_finish();
	free(job);
	return 0;
}
