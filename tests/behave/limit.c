/* SPDX-License-Identifier: Apache-2.0 */
/* A limit delivers exactly that many hits over all threads, then nothing until re-armed. */
#include "check.h"

#include <pthread.h>

#define THREADS 8

static volatile long watched;
static pthread_barrier_t barrier;

static void *hammer(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 2000; i++)
		watched = i;
	return arg;
}

static void hammer_all(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, hammer, NULL), "create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
}

int main(void)
{
	struct tl_spec spec = check_spec(&watched, 8, TL_WRITE, TL_PROCESS);
	tl_event *event;
	uint64_t signals;
	volatile long hits = 0;

	check_hardware();
	spec.limit = 7;
	CHECK_OK(tl_event_open(&event, &spec, check_count_hit, (void *)&hits));
	for (int round = 1; round <= 20; round++) {
		hammer_all();
		CHECK_EQUAL(hits, 7 * round);
		signals = check_stat("hits-over-limit");
		watched = 1;
		/* Silent: not even a signal that is dropped. */
		CHECK_EQUAL(check_stat("hits-over-limit"), signals);
		CHECK_OK(tl_event_rearm(event, 7));
	}
	CHECK_OK(tl_event_close(event));
	CHECK_EQUAL(tl_event_rearm(event, 1), -EBADF);
	return 0;
}
