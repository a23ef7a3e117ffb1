/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to be limited by one means or another, that measures by its own clocks what it got.
 * Prints one JSON object.
 *
 * usage: throttle spin SECONDS [THREADS]
 *		all the time; its share of a CPU, and its longest pause
 *	  throttle service SECONDS
 *		a thread `front` that wants to run for a moment every millisecond, beside two
 *threads `compress-…` that run all the time: how late `front` is
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MAX_WAKES 100000
#define INTERVAL 1000000ull

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void *spin_thread(void *name)
{
	if (name)
		prctl(PR_SET_NAME, name);
	for (;;)
		for (volatile int i = 0; i < 1000000; i++)
			;
	return NULL;
}

static void spin(uint64_t length, int threads)
{
	uint64_t begun, cpu, last, time, longest = 0;
	pthread_t thread;

	for (int i = 1; i < threads; i++)
		pthread_create(&thread, NULL, spin_thread, NULL);
	begun = last = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	do {
		time = now(CLOCK_MONOTONIC);
		if (time - last > longest)
			longest = time - last;
		last = time;
	} while (time - begun < length);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("{\"share\":%.6f,\"longest_ms\":%.3f}\n", (double)cpu / (double)(time - begun),
	       (double)longest / 1e6);
	fflush(stdout);
	_exit(0);
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static uint64_t thread_cpu(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) ? 0 : now(clock);
}

static void service(uint64_t length)
{
	static uint64_t late[MAX_WAKES];
	static char names[2][16] = {"compress-1", "compress-2"};
	uint64_t begun, due, time, background;
	pthread_t threads[2];
	size_t count = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, spin_thread, names[i]);
	prctl(PR_SET_NAME, "front");
	begun = due = now(CLOCK_MONOTONIC);
	do {
		struct timespec at;

		due += INTERVAL;
		at.tv_sec = (time_t)(due / 1000000000u);
		at.tv_nsec = (long)(due % 1000000000u);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		time = now(CLOCK_MONOTONIC);
		late[count++] = time - due;
		/* What was missed is not made up for. */
		if (time > due + INTERVAL)
			due = time;
	} while (time - begun < length && count < MAX_WAKES);
	background = thread_cpu(threads[0]) + thread_cpu(threads[1]);
	qsort(late, count, sizeof(late[0]), compare);
	printf("{\"wakes\":%zu,\"p50\":%.1f,\"p99\":%.1f,\"max\":%.1f,\"background\":%.4f}\n",
	       count, (double)late[count / 2] / 1e3, (double)late[count * 99 / 100] / 1e3,
	       (double)late[count - 1] / 1e3, (double)background / (double)(time - begun));
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t length = argc > 2 ? (uint64_t)(atof(argv[2]) * 1e9) : 0;

	if (length && !strcmp(argv[1], "spin"))
		spin(length, argc > 3 ? atoi(argv[3]) : 1);
	if (length && !strcmp(argv[1], "service"))
		service(length);
	fprintf(stderr, "usage: throttle spin SECONDS [THREADS] | service SECONDS\n");
	return 2;
}
