/* SPDX-License-Identifier: Apache-2.0 */
/* An event moves to places of other lengths while threads create threads: none of these fails. */
#include "check.h"

#include <pthread.h>
#include <time.h>

#define CREATORS 3
#define SECONDS 5

static char watched[16] __attribute__((aligned(16)));
static volatile int stop;
static long created, refused;

static void *nothing(void *arg)
{
	return arg;
}

/* Threads of these inherit from copies: what the first thread does waits for no one. */
static void *create(void *arg)
{
	while (!stop) {
		pthread_t thread;
		int err = pthread_create(&thread, NULL, nothing, NULL);

		__atomic_fetch_add(err ? &refused : &created, 1, __ATOMIC_RELAXED);
		if (!err)
			pthread_join(thread, NULL);
	}
	return arg;
}

int main(void)
{
	pthread_t creators[CREATORS];
	time_t end = time(NULL) + SECONDS;
	unsigned long moves = 0;
	tl_event *event;

	check_hardware();
	event = check_open(watched, 8, TL_WRITE, TL_PROCESS, check_count_hit, NULL);
	for (int i = 0; i < CREATORS; i++)
		CHECK(!pthread_create(&creators[i], NULL, create, NULL), "create");
	for (; time(NULL) < end; moves++)
		CHECK_OK(tl_event_move(event, watched + moves % 2, moves % 2 ? 1 : 8, TL_WRITE));
	stop = 1;
	for (int i = 0; i < CREATORS; i++)
		pthread_join(creators[i], NULL);
	CHECK_OK(tl_event_close(event));
	printf("%lu moves, %ld threads created, %ld refused\n", moves, created, refused);
	CHECK_EQUAL(refused, 0);
	return 0;
}
