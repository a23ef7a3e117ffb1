/* SPDX-License-Identifier: Apache-2.0 */
/* After close no handler runs; after a move no hit of the old place counts as one of the new. */
#include "check.h"

#include <pthread.h>

#define THREADS 6
#define ROUNDS 1500

static volatile long places[16];
static volatile int stop;
static volatile long alive; /* what the handler's argument says while the event is open */
static volatile long expected;
static volatile long wrong;

static void *hammer(void *arg)
{
	long place = (long)arg;

	while (!stop)
		for (int i = 0; i < 16; i++)
			places[(place + i) % 16] = i;
	return NULL;
}

static void must_be_alive(tl_hit *hit, void *arg)
{
	(void)hit;
	if (!__atomic_load_n((long *)arg, __ATOMIC_SEQ_CST))
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	for (volatile int i = 0; i < 200; i++)
		;
	if (!__atomic_load_n((long *)arg, __ATOMIC_SEQ_CST))
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void close_rounds(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		tl_event *event;

		__atomic_store_n(&alive, 1, __ATOMIC_SEQ_CST);
		event = check_open(&places[round % 16], 8, TL_WRITE, TL_PROCESS, must_be_alive,
				   (void *)&alive);
		CHECK_OK(tl_event_close(event));
		__atomic_store_n(&alive, 0, __ATOMIC_SEQ_CST);
	}
	CHECK_EQUAL(wrong, 0);
}

static void must_be_here(tl_hit *hit, void *arg)
{
	const volatile long *address = tl_hit_addr(hit);

	(void)arg;
	if (tl_hit_access(hit) & (TL_LATE | TL_GUESSED))
		return;
	/* Hits of the old place may end while a move goes on; none may begin after it returned. */
	if (address != &places[__atomic_load_n(&expected, __ATOMIC_SEQ_CST)] &&
	    __atomic_load_n(&alive, __ATOMIC_SEQ_CST))
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void move_rounds(void)
{
	tl_event *event = check_open(&places[0], 8, TL_WRITE, TL_PROCESS, must_be_here, NULL);

	for (int round = 0; round < ROUNDS; round++) {
		/* `alive` 0: any place may be seen. A handler that began before the move and reads
		 * `alive` after it is excused by the pause. */
		__atomic_store_n(&alive, 0, __ATOMIC_SEQ_CST);
		CHECK_OK(tl_event_move(event, (const void *)&places[round % 16], 8, 0));
		__atomic_store_n(&expected, round % 16, __ATOMIC_SEQ_CST);
		usleep(200);
		__atomic_store_n(&alive, 1, __ATOMIC_SEQ_CST);
		usleep(200);
	}
	CHECK_OK(tl_event_close(event));
	CHECK_EQUAL(wrong, 0);
}

/* Handlers that close each other's events, and two that close the same. */
static tl_event *cross[2];

static void close_other(tl_hit *hit, void *arg)
{
	(void)hit;
	usleep(1000);
	tl_event_close(cross[(long)arg]);
}

static void *write_place(void *arg)
{
	places[(long)arg] = 1;
	return NULL;
}

static void cross_close(bool same)
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		cross[i] = check_open(&places[i], 8, TL_WRITE, TL_PROCESS, close_other,
				      (void *)(same ? 0 : 1 - i));
	for (long i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, write_place, (void *)(same ? 0 : i)),
		      "create");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++)
		tl_event_close(cross[i]);
}

int main(void)
{
	pthread_t threads[THREADS];

	check_hardware();
	for (int i = 0; i < 20; i++)
		cross_close(i % 2);
	for (long i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, hammer, (void *)i), "create");
	close_rounds();
	move_rounds();
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
