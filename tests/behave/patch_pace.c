/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operation costs with many threads, in CPU time, and that it gives its CPU away between
 * portions of its work. Neither is judged by the clock: the first is compared with reading each
 * thread's status file, the second is counted by the kernel.
 */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#define THREADS 256
#define TRIES 12
#define LEAST_SWITCHES 12 /* of some fifty; a few come from the ends of slices */

#ifdef __clang__
#define FUNCTION __attribute__((noinline, optnone, used))
#else
#define FUNCTION __attribute__((noipa, used))
#endif

FUNCTION static int old_function(int x)
{
	return x * 3 + 1;
}

FUNCTION static int new_function(int x)
{
	return x * 5 + 2;
}

static pid_t tids[THREADS];
static volatile bool ending;

static void *sleep_on(void *arg)
{
	__atomic_store_n((pid_t *)arg, gettid(), __ATOMIC_SEQ_CST);
	while (!ending)
		usleep(20000);
	return NULL;
}

static void *compute(void *arg)
{
	(void)arg;
	while (!ending)
		;
	return NULL;
}

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void operate(void)
{
	tl_patch *patch;

	CHECK_OK(tl_patch_apply(&patch, (void *)old_function, (void *)new_function, 0));
	CHECK_EQUAL(old_function(1), 7);
	CHECK_OK(tl_patch_revert(patch));
	CHECK_EQUAL(old_function(1), 4);
}

static void read_status(void)
{
	char path[64], text[4096];

	for (int i = 0; i < THREADS; i++) {
		int fd;

		snprintf(path, sizeof(path), "/proc/self/task/%d/status", tids[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		CHECK(fd >= 0 && read(fd, text, sizeof(text)) > 0, "%s", path);
		close(fd);
	}
}

/* The least of all tries, in turns: what else happens only adds. */
static void check_cost(void)
{
	uint64_t operations = UINT64_MAX, readings = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t began = cpu_time(), between, taken;

		operate();
		between = cpu_time();
		read_status();
		read_status();
		taken = cpu_time() - between;
		operations = between - began < operations ? between - began : operations;
		readings = taken < readings ? taken : readings;
	}
	CHECK(operations < readings, "two operations take %llu us, reading all status files %llu",
	      (unsigned long long)operations / 1000, (unsigned long long)readings / 1000);
}

/* Another thread always wants the CPU that the patcher runs on. */
static void check_gives_way(void)
{
	long most = 0;

	for (int i = 0; i < TRIES && most < LEAST_SWITCHES; i++) {
		struct rusage before, after;

		getrusage(RUSAGE_THREAD, &before);
		operate();
		getrusage(RUSAGE_THREAD, &after);
		if (after.ru_nivcsw - before.ru_nivcsw > most)
			most = after.ru_nivcsw - before.ru_nivcsw;
	}
	CHECK(most >= LEAST_SWITCHES, "two operations gave the CPU away %ld times", most);
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	CHECK(!pthread_create(thread, &attributes, run, arg), "create");
	pthread_attr_destroy(&attributes);
}

int main(void)
{
	pthread_t threads[THREADS], computing;
	cpu_set_t one;

	for (int i = 0; i < THREADS; i++)
		start(&threads[i], sleep_on, &tids[i]);
	for (int i = 0; i < THREADS; i++)
		while (!__atomic_load_n(&tids[i], __ATOMIC_SEQ_CST))
			usleep(100);
	check_cost();
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one), "affinity");
	start(&computing, compute, NULL);
	check_gives_way();
	ending = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(computing, NULL);
	return 0;
}
