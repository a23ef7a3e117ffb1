/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every C and C++ program here shares: a time bound, a thread count, threads, naps.
 * Usage of each program: PROGRAM [SECONDS [THREADS]].
 *
 * Nothing in this file races: its one shared word is only accessed atomically, and every thread
 * is joined.  A finding in here is therefore a false one.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HARNESS_MAX_THREADS 2048

static int harness_stop;
static double harness_seconds = 10;
static int harness_threads;
static pthread_t harness_ids[HARNESS_MAX_THREADS];
static int harness_count;
static __thread unsigned harness_turn;

/* Keeps a value that was read without storing it anywhere. */
#define consume(value) __asm__ volatile("" : : "r"(value))

static inline int running(void)
{
	return !__atomic_load_n(&harness_stop, __ATOMIC_RELAXED);
}

static inline void nap(unsigned microseconds)
{
	struct timespec pause = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};

	nanosleep(&pause, NULL);
}

/* Burns about one nanosecond of CPU time per round. */
__attribute__((noinline, unused)) static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

/* A loop that paces itself hot takes about a quarter of a CPU, warm about 2 %, cold almost none. */
static inline void pace_hot(void)
{
	work(300);
	if (++harness_turn % 1024 == 0)
		nap(1000);
}

static inline void pace_warm(void)
{
	work(2000);
	if (++harness_turn % 16 == 0)
		nap(1500);
}

static inline void pace_cold(void)
{
	work(500);
	nap(20000);
}

/* Reads SECONDS and THREADS; `threads` is the program's own default. */
static inline void harness_init(int argc, char **argv, int threads)
{
	harness_threads = threads;
	if (argc > 1)
		harness_seconds = atof(argv[1]);
	if (argc > 2)
		harness_threads = atoi(argv[2]);
	if (harness_threads < 2 || harness_threads > HARNESS_MAX_THREADS / 2) {
		fprintf(stderr, "%s: THREADS must be 2 to %d\n", argv[0], HARNESS_MAX_THREADS / 2);
		exit(2);
	}
}

/* Starts `count` threads of `body`, whose argument is the thread's index as an intptr_t. */
static inline void harness_start(void *(*body)(void *), int count)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	for (int i = 0; i < count; i++) {
		if (pthread_create(&harness_ids[harness_count], &attr, body, (void *)(intptr_t)i)) {
			fputs("cannot start a thread\n", stderr);
			exit(2);
		}
		harness_count++;
	}
	pthread_attr_destroy(&attr);
}

static inline void harness_sleep(void)
{
	struct timespec pause = {(time_t)harness_seconds, 0};

	pause.tv_nsec = (long)((harness_seconds - (double)pause.tv_sec) * 1e9);
	while (nanosleep(&pause, &pause))
		;
}

/* The exit status of main(). */
static inline int harness_join(void)
{
	for (int i = 0; i < harness_count; i++)
		pthread_join(harness_ids[i], NULL);
	return 0;
}

/* Lets the threads run for SECONDS, stops them and joins them; the exit status of main(). */
static inline int harness_finish(void)
{
	harness_sleep();
	__atomic_store_n(&harness_stop, 1, __ATOMIC_RELAXED);
	return harness_join();
}

#endif
