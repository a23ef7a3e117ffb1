/* SPDX-License-Identifier: Apache-2.0 */
/* Each scope covers what it says and nothing else. */
#include "check.h"

#include <pthread.h>
#include <semaphore.h>

#define MANY 40

static volatile long watched;
static sem_t ready, go;
static volatile pid_t tids[MANY];
static long *shared_hits;

static void *touch(void *arg)
{
	(void)arg;
	watched = 1;
	return NULL;
}

static void touch_in_new_thread(void)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, touch, NULL));
	pthread_join(thread, NULL);
}

static void *wait_and_touch(void *arg)
{
	tids[(long)arg] = check_gettid();
	sem_post(&ready);
	sem_wait(&go);
	watched = (long)arg;
	touch_in_new_thread();
	return NULL;
}

static void start_waiting(pthread_t *threads)
{
	for (long i = 0; i < MANY; i++)
		CHECK(!pthread_create(&threads[i], NULL, wait_and_touch, (void *)i));
	for (int i = 0; i < MANY; i++)
		sem_wait(&ready);
}

static void finish_waiting(pthread_t *threads)
{
	for (int i = 0; i < MANY; i++)
		sem_post(&go);
	for (int i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
}

static void touch_in_fork(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		watched = 1;
		touch_in_new_thread();
		_exit(0);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
}

static void test_thread(void)
{
	volatile long hits = 0;
	tl_event *event =
		check_open(&watched, 8, TL_WRITE, TL_THREAD, check_count_hit, (void *)&hits);

	watched = 1;
	touch_in_new_thread();
	touch_in_fork();
	CHECK_EQUAL(hits, 1);
	CHECK_OK(tl_event_close(event));
	watched = 2;
	CHECK_EQUAL(hits, 1);
}

static void test_process(void)
{
	pthread_t threads[MANY];
	tl_event *event;
	volatile long hits = 0;

	start_waiting(threads);
	event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, check_count_hit, (void *)&hits);
	watched = 1;
	finish_waiting(threads);
	touch_in_new_thread();
	touch_in_fork();
	CHECK_EQUAL(hits, 1 + 2 * MANY + 1);
	CHECK_OK(tl_event_close(event));
}

static void test_threads(void)
{
	pthread_t threads[MANY];
	struct tl_spec spec = check_spec(&watched, 8, TL_WRITE, TL_THREADS);
	tl_event *event;
	volatile long hits = 0;

	start_waiting(threads);
	spec.tids = (const pid_t *)tids + 3;
	spec.ntids = 10;
	CHECK_OK(tl_event_open(&event, &spec, check_count_hit, (void *)&hits));
	watched = 1;
	finish_waiting(threads);
	CHECK_EQUAL(hits, 10);
	CHECK_OK(tl_event_close(event));
	/* They have ended: naming them now is an error. */
	CHECK_EQUAL(tl_event_open(&event, &spec, check_count_hit, (void *)&hits), -ESRCH);
}

static void count_shared(tl_hit *hit, void *arg)
{
	(void)arg;
	CHECK(tl_hit_tid(hit) == check_gettid(), "tid");
	__atomic_fetch_add(shared_hits, 1, __ATOMIC_RELAXED);
}

static void test_tree(void)
{
	pthread_t threads[MANY];
	tl_event *event;

	*shared_hits = 0;
	start_waiting(threads);
	event = check_open(&watched, 8, TL_WRITE, TL_TREE, count_shared, NULL);
	watched = 1;
	touch_in_fork();
	finish_waiting(threads);
	CHECK_EQUAL(*shared_hits, 1 + 2 + 2 * MANY);
	CHECK_OK(tl_event_close(event));
}

int main(void)
{
	check_hardware();
	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	shared_hits = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_thread();
	test_process();
	test_threads();
	test_tree();
	return 0;
}
