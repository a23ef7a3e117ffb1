/* SPDX-License-Identifier: Apache-2.0 */
/* After close no handler runs; after a move no hit of the old place counts as one of the new. */
#include "check.h"

#include <pthread.h>

#define THREADS 6
#define ROUNDS 1500
#define MOVES 500

static volatile long places[16];
static volatile int stop;
static volatile long alive; /* what the handler's argument says while the event is open */
static volatile long expected;
static volatile long wrong;

static volatile int pausing;
static volatile int paused;

static void *hammer(void *arg)
{
	long place = (long)arg;

	while (!stop) {
		for (int i = 0; i < 16; i++)
			places[(place + i) % 16] = i;
		if (!pausing)
			continue;
		__atomic_fetch_add(&paused, 1, __ATOMIC_SEQ_CST);
		while (pausing)
			usleep(20);
		__atomic_fetch_sub(&paused, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* When it returns no thread is in a handler, so every later hit began later. */
static void pause_all(void)
{
	pausing = 1;
	while (__atomic_load_n(&paused, __ATOMIC_SEQ_CST) < THREADS)
		usleep(20);
}

static void resume_all(void)
{
	pausing = 0;
	while (__atomic_load_n(&paused, __ATOMIC_SEQ_CST))
		usleep(20);
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
	(void)arg;
	long now = expected;

	if (now < 0 || tl_hit_addr(hit) == (const void *)&places[now])
		return;
	__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	fprintf(stderr, "expected place %ld: hit at %p, %zu bytes, access %#x\n", now,
		tl_hit_addr(hit), tl_hit_size(hit), tl_hit_access(hit));
}

/* Each move happens while all threads hammer; the check begins once the old hits are done with. */
static void move_rounds(void)
{
	tl_event *event = check_open(&places[0], 8, TL_WRITE, TL_PROCESS, must_be_here, NULL);

	for (int round = 0; round < MOVES; round++) {
		expected = -1;
		CHECK_OK(tl_event_move(event, (const void *)&places[round % 16], 8, 0));
		pause_all();
		expected = round % 16;
		resume_all();
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
