/* SPDX-License-Identifier: Apache-2.0 */
/* An event with a limit is opened while threads are being created, by calls that reach the limit
 * themselves: who opens it waits for them, and they do not wait for whoever opens it. */
#include "check.h"

#include <pthread.h>

#define ROUNDS 300
#define CREATORS 2

static pthread_attr_t attributes;
static volatile int stop;

static void *nothing(void *argument)
{
	return argument;
}

/* The call reads what it is given: flags stand there (glibc, struct pthread_attr). */
static void *create(void *argument)
{
	while (!stop) {
		pthread_t thread;

		CHECK(!pthread_create(&thread, &attributes, nothing, NULL), "create");
		pthread_join(thread, NULL);
	}
	return argument;
}

int main(void)
{
	struct tl_spec spec =
		check_spec((char *)&attributes + 8, 8, TL_READ | TL_WRITE, TL_PROCESS);
	pthread_t creators[CREATORS];
	volatile long hits = 0;

	check_hardware();
	spec.limit = 1;
	pthread_attr_init(&attributes);
	for (int i = 0; i < CREATORS; i++)
		CHECK(!pthread_create(&creators[i], NULL, create, NULL), "create");
	for (int i = 0; i < ROUNDS; i++) {
		tl_event *event;

		CHECK_OK(tl_event_open(&event, &spec, check_count_hit, (void *)&hits));
		CHECK_OK(tl_event_close(event));
	}
	stop = 1;
	for (int i = 0; i < CREATORS; i++)
		pthread_join(creators[i], NULL);
	CHECK(hits > 0 && hits <= ROUNDS, "%ld hits", hits);
	/* One that the machine keeps from running for so long is no fault. */
	CHECK(check_stat("creations-unsettled") <= (unsigned long)hits / 8, "%llu unsettled",
	      (unsigned long long)check_stat("creations-unsettled"));
	printf("%ld of %d events were met\n", hits, ROUNDS);
	return 0;
}
