/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads, or forked processes, that count: each in a line of its own, in one line together, or all
 * in one counter.
 *
 * usage: sharing thread|fork none|false|true DISTANCE SECONDS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ACTORS 2

static char area[8192] __attribute__((aligned(4096)));
static char *counters = area;
static size_t distance;
static double seconds;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *count(void *argument)
{
	volatile uint64_t *counter = (uint64_t *)(counters + (size_t)argument * distance);
	double end = now() + seconds;

	while (now() < end)
		for (int i = 0; i < 100000; i++)
			*counter = *counter + 1;
	return NULL;
}

static void run_threads(void)
{
	pthread_t thread[ACTORS];

	for (size_t i = 0; i < ACTORS; i++)
		pthread_create(&thread[i], NULL, count, (void *)i);
	for (size_t i = 0; i < ACTORS; i++)
		pthread_join(thread[i], NULL);
}

static void run_processes(void)
{
	counters =
		mmap(NULL, sizeof(area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < ACTORS; i++)
		if (fork() == 0) {
			count((void *)i);
			exit(0);
		}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	distance = strcmp(argv[2], "true") == 0 ? 0 : strtoul(argv[3], NULL, 0);
	seconds = strtod(argv[4], NULL);
	if (strcmp(argv[1], "fork") == 0)
		run_processes();
	else
		run_threads();
	return 0;
}
