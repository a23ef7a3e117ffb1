/* SPDX-License-Identifier: Apache-2.0 */
/* An event is opened while threads are being created as fast as they can: each is covered once. */
#include "check.h"

#include <pthread.h>
#include <sched.h>

#define ROUNDS 60
#define CREATORS 3

static volatile long watched;
static volatile int stop;
static volatile int opened;
static volatile long accesses;

/* Touches only if the event was open before, so that each touch must be a hit. */
static void *newborn(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++) {
		if (__atomic_load_n(&opened, __ATOMIC_SEQ_CST)) {
			watched = i;
			__atomic_fetch_add(&accesses, 1, __ATOMIC_RELAXED);
		}
		sched_yield();
	}
	return NULL;
}

static void *create(void *arg)
{
	while (!stop) {
		pthread_t threads[4];

		for (int i = 0; i < 4; i++)
			CHECK(!pthread_create(&threads[i], NULL, newborn, NULL), "create");
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	return arg;
}

static void one_round(bool counter)
{
	pthread_t creators[CREATORS];
	struct tl_spec spec = check_spec(&watched, 8, TL_WRITE, TL_PROCESS);
	tl_event *event;
	volatile long hits = 0;

	if (counter)
		spec = (struct tl_spec){.size = sizeof(spec),
					.counter = TL_PAGE_FAULTS,
					.period = 1,
					.scope = TL_PROCESS};
	stop = opened = 0;
	accesses = 0;
	for (int i = 0; i < CREATORS; i++)
		CHECK(!pthread_create(&creators[i], NULL, create, NULL), "create");
	usleep(500);
	CHECK_OK(tl_event_open(&event, &spec, check_count_hit, (void *)&hits));
	__atomic_store_n(&opened, 1, __ATOMIC_SEQ_CST);
	usleep(3000);
	stop = 1;
	for (int i = 0; i < CREATORS; i++)
		pthread_join(creators[i], NULL);
	if (!counter)
		CHECK_EQUAL(hits, accesses);
	CHECK_OK(tl_event_close(event));
}

int main(void)
{
	check_hardware();
	for (int i = 0; i < ROUNDS; i++)
		one_round(i % 6 == 5);
	printf("%llu passes repeated because threads were being created\n",
	       (unsigned long long)check_stat("coverage-retries"));
	return 0;
}
