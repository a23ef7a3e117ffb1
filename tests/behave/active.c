/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that ran lately are found among many that sleep, and can be armed alone. */
#include "check.h"

#include <pthread.h>

#define SLEEPERS 300
#define RUNNERS 3

static volatile int stop;
static volatile pid_t runner_tids[RUNNERS];
static volatile long watched;
static pthread_mutex_t asleep = PTHREAD_MUTEX_INITIALIZER;

static void *sleeper(void *arg)
{
	pthread_mutex_lock(&asleep);
	pthread_mutex_unlock(&asleep);
	return arg;
}

static void *runner(void *arg)
{
	runner_tids[(long)arg] = check_gettid();
	while (!stop)
		watched = (long)arg;
	return NULL;
}

static int find_runners(tl_active *active, pid_t *tids)
{
	bool found[RUNNERS] = {false};
	int count = tl_active_threads(active, tids, 64, 500000000);

	for (int i = 0; i < count; i++)
		for (int j = 0; j < RUNNERS; j++)
			found[j] |= tids[i] == runner_tids[j];
	return found[0] && found[1] && found[2] ? count : 0;
}

int main(void)
{
	pthread_t threads[SLEEPERS + RUNNERS];
	struct tl_spec spec = check_spec(&watched, 8, TL_WRITE, TL_THREADS);
	tl_active *active;
	tl_event *event;
	pid_t tids[64];
	volatile long hits = 0;
	int count = 0;

	check_hardware();
	pthread_mutex_lock(&asleep);
	for (int i = 0; i < SLEEPERS; i++)
		CHECK(!pthread_create(&threads[i], NULL, sleeper, NULL), "create");
	CHECK_OK(tl_active_open(&active, 1000000));
	for (long i = 0; i < RUNNERS; i++)
		CHECK(!pthread_create(&threads[SLEEPERS + i], NULL, runner, (void *)i), "create");
	for (int wait = 0; wait < 500 && !count; wait++) {
		usleep(10000);
		count = find_runners(active, tids);
	}
	CHECK(count >= RUNNERS && count <= RUNNERS + 2, "%d threads found active", count);
	spec.tids = tids;
	spec.ntids = (size_t)count;
	spec.flags = TL_BEST_EFFORT;
	CHECK_OK(tl_event_open(&event, &spec, check_count_hit, (void *)&hits));
	for (int wait = 0; wait < 500 && !hits; wait++)
		usleep(10000);
	CHECK(hits > 0, "no hit in the active threads");
	CHECK_OK(tl_event_close(event));
	tl_active_close(active);
	stop = 1;
	pthread_mutex_unlock(&asleep);
	for (int i = 0; i < SLEEPERS + RUNNERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
