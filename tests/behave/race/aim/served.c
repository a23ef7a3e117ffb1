/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter of requests that one thread keeps and another shows, beside much code that shares
 * nothing. MOVED: the next build, whose lines and addresses are others. FIXED: a lock protects it.
 * Runs until SIGTERM.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#ifdef MOVED
struct extra {
	uint64_t first, second;
};

__attribute__((noinline)) static uint64_t extra_sum(const volatile struct extra *extra)
{
	return extra->first * 3 + extra->second;
}
#endif

#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK() ((void)0)
#define UNLOCK() ((void)0)
#endif

static atomic_bool stop;
static uint64_t served;

__attribute__((noinline)) static uint64_t work(unsigned rounds)
{
	volatile uint64_t sum = 0;

	for (unsigned i = 0; i < rounds; i++)
		sum += i;
	return sum;
}

__attribute__((noinline)) static void count_served(void)
{
	LOCK();
	served++;
	UNLOCK();
}

__attribute__((noinline)) static uint64_t get_served(void)
{
	uint64_t seen;

	LOCK();
	seen = served;
	UNLOCK();
	return seen;
}

static void rest(long milliseconds)
{
	const struct timespec time = {.tv_nsec = milliseconds * 1000000};

	nanosleep(&time, NULL);
}

static void *serve(void *unused)
{
	while (!atomic_load(&stop)) {
		work(2000);
		count_served();
		rest(7);
	}
	return unused;
}

static void *show(void *unused)
{
	uint64_t sum = 0;

	while (!atomic_load(&stop)) {
		work(1000);
		sum += get_served();
		rest(5);
	}
	return sum ? unused : NULL;
}

static void end(int signal)
{
	(void)signal;
	atomic_store(&stop, true);
}

int main(void)
{
	const struct sigaction action = {.sa_handler = end};
	pthread_t thread[2];

#ifdef MOVED
	volatile struct extra extra = {1, 2};

	printf("%llu\n", (unsigned long long)extra_sum(&extra));
#endif
	sigaction(SIGTERM, &action, NULL);
	pthread_create(&thread[0], NULL, serve, NULL);
	pthread_create(&thread[1], NULL, show, NULL);
	while (!atomic_load(&stop)) {
		work(100000);
		rest(1);
	}
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}
