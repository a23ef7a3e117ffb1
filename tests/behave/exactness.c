/* SPDX-License-Identifier: Apache-2.0 */
/* T threads making N accesses each give T x N callbacks, while other threads start and end.
 * Usage: exactness [ACCESSES], of all threads together: where a hit is slow, fewer do. */
#include "check.h"

#include <pthread.h>
#include <stdlib.h>

static long total = 100000;

static volatile long watched;
static volatile int churning;
static long per_thread;

static __attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}

static void *write_it(void *arg)
{
	for (long i = 0; i < per_thread; i++)
		watched = i;
	return arg;
}

static void *read_it(void *arg)
{
	for (long i = 0; i < per_thread; i++)
		(void)watched;
	return arg;
}

static void *call_it(void *arg)
{
	for (long i = 0; i < per_thread; i++)
		called();
	return arg;
}

static void *short_life(void *arg)
{
	watched = 1;
	(void)watched;
	called();
	__atomic_fetch_add((long *)arg, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *churn(void *arg)
{
	while (churning) {
		pthread_t thread;

		CHECK(!pthread_create(&thread, NULL, short_life, arg));
		pthread_join(thread, NULL);
	}
	return NULL;
}

static void run(const char *what, int threads, unsigned access, void *(*work)(void *))
{
	const void *place = access == TL_EXEC ? (const void *)called : (const void *)&watched;
	pthread_t workers[64], churner;
	volatile long hits = 0, lives = 0;
	tl_event *event = check_open(place, access == TL_EXEC ? 0 : sizeof(watched), access,
				     TL_PROCESS, check_count_hit, (void *)&hits);

	per_thread = total / threads;
	churning = 1;
	CHECK(!pthread_create(&churner, NULL, churn, (void *)&lives));
	for (int i = 0; i < threads; i++)
		CHECK(!pthread_create(&workers[i], NULL, work, NULL));
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i], NULL);
	churning = 0;
	pthread_join(churner, NULL);
	printf("%s, %d threads: %ld hits, %ld short-lived threads\n", what, threads, hits, lives);
	CHECK_EQUAL(hits, threads * per_thread + lives);
	CHECK_EQUAL(tl_event_hits(event), hits);
	CHECK_OK(tl_event_close(event));
}

int main(int argc, char **argv)
{
	static const int threads[] = {1, 4, 64};

	if (argc > 1)
		total = atol(argv[1]);

	check_hardware();
	for (int i = 0; i < 3; i++) {
		run("write", threads[i], TL_WRITE, write_it);
		run("read", threads[i], TL_READ, read_it);
		run("execution", threads[i], TL_EXEC, call_it);
	}
	return 0;
}
