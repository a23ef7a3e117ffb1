/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stop and resume while threads register, leave, die, block, fork and take signals. What stopped
 * must mean: while the world is stopped no thread outside a blocking region changes its counter.
 */
#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define MAX_THREADS 256

struct worker {
	pthread_t thread;
	volatile uint64_t count; /* changed only outside blocking regions, between polls */
	uint32_t seed;
	char unused[44];
};

static tl_safepoint *safepoint;
static bool indirect;
static struct worker workers[MAX_THREADS];
static volatile bool ending;
static volatile uint64_t signals;

static inline __attribute__((always_inline)) void poll_once(void)
{
	if (indirect)
		TL_SAFEPOINT_POLL_AT(tl_safepoint_place(safepoint));
	else
		TL_SAFEPOINT_POLL(safepoint);
}

static void on_signal(int number)
{
	(void)number;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

static void run_a_while(struct worker *worker)
{
	for (int i = 0; i < 1000 && !ending; i++) {
		worker->count++;
		poll_once();
		if (rand_r(&worker->seed) % 256 == 0) {
			CHECK_OK(tl_safepoint_enter_blocking(safepoint));
			usleep(rand_r(&worker->seed) % 300);
			CHECK_OK(tl_safepoint_leave_blocking(safepoint));
		}
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	while (!ending) {
		CHECK_OK(tl_safepoint_register(safepoint));
		run_a_while(worker);
		CHECK_OK(tl_safepoint_leave(safepoint));
	}
	CHECK_OK(tl_safepoint_register(safepoint));
	return NULL; /* dies registered */
}

/* Threads that come, poll and go without leaving. */
static void *die_often(void *argument)
{
	(void)argument;
	CHECK_OK(tl_safepoint_register(safepoint));
	for (int i = 0; i < 100; i++)
		poll_once();
	return NULL;
}

static void *breed(void *argument)
{
	pthread_t child;

	while (!ending) {
		CHECK(pthread_create(&child, NULL, die_often, NULL) == 0);
		pthread_join(child, NULL);
	}
	return argument;
}

static int check_thread(const struct tl_safepoint_thread *thread, void *arg)
{
	int *seen = arg;

	CHECK(thread->tid > 0 && thread->context);
	CHECK(thread->stack_pointer >= thread->stack_low &&
	      thread->stack_pointer < thread->stack_high);
	(*seen)++;
	return 0;
}

static void check_stillness(unsigned threads)
{
	uint64_t before[MAX_THREADS];
	int seen = 0;

	for (unsigned i = 0; i < threads; i++)
		before[i] = workers[i].count;
	CHECK_OK(tl_safepoint_each(safepoint, check_thread, &seen));
	sched_yield();
	usleep(20);
	for (unsigned i = 0; i < threads; i++)
		CHECK_EQUAL(workers[i].count, before[i]);
}

static void fork_once(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		CHECK_OK(tl_safepoint_register(safepoint));
		CHECK_OK(tl_safepoint_stop(safepoint, 1000000000));
		CHECK_OK(tl_safepoint_resume(safepoint));
		poll_once();
		CHECK_OK(tl_safepoint_leave(safepoint));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQUAL(status, 0);
}

static void note_handshake(const struct tl_safepoint_thread *thread, void *arg)
{
	CHECK(thread->tid > 0);
	__atomic_fetch_add((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static void stress(unsigned threads, unsigned rounds)
{
	struct tl_safepoint_spec spec = {.size = sizeof(spec),
					 .flags = indirect ? 0 : TL_SAFEPOINT_WATCHPOINT};
	pthread_t breeder;

	ending = false;
	CHECK_OK(tl_safepoint_open(&safepoint, &spec));
	for (unsigned i = 0; i < threads; i++) {
		workers[i].seed = i + 1;
		CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
	}
	CHECK(pthread_create(&breeder, NULL, breed, NULL) == 0);
	for (unsigned round = 0; round < rounds; round++) {
		int handshaken = 0;

		CHECK_OK(tl_safepoint_stop(safepoint, 20000000000));
		check_stillness(threads);
		if (round % 64 == 0)
			fork_once();
		CHECK_OK(tl_safepoint_resume(safepoint));
		pthread_kill(workers[round % threads].thread, SIGUSR1);
		if (round % 8 == 0)
			CHECK_OK(tl_safepoint_handshake(safepoint, note_handshake, &handshaken,
							20000000000));
	}
	ending = true;
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_join(breeder, NULL);
	CHECK_OK(tl_safepoint_close(safepoint));
	printf("%u threads, %u rounds%s\n", threads, rounds, indirect ? ", indirect" : "");
}

int main(void)
{
	signal(SIGUSR1, on_signal);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int kind = 0; kind < 2; kind++) {
		indirect = kind;
		stress(1, 1000);
		stress(4, 500);
		stress(32, 100);
		stress(256, 10);
	}
	CHECK(signals > 0);
	return 0;
}
