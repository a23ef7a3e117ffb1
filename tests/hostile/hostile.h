/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hostile programs share.  Each prints what it sees of itself, the same on every run, and
 * exits 0, 1 (something differs) or 77 (this machine does not let it try).
 *
 * noise_start() starts threads that race on noise_counter, so that a race detector has something
 * to watch, hold and report while the program does what it does. One of them also writes
 * noise_marks and noise_table, NOISE_MARKS times by the time that noise_stop() returns: what
 * `trapline watch` has to count.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SKIP 77
#define NOISE_THREADS 3
#define NOISE_MARKS 200

/* One line of the transcript; flushed, for the program may end at any moment. */
#define say(...) (printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

#define expect(condition)                                                                        \
	do {                                                                                     \
		if (!(condition)) {                                                              \
			printf("%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, \
			       errno);                                                           \
			fflush(stdout);                                                          \
			_exit(1);                                                                \
		}                                                                                \
	} while (0)

static long noise_counter;
static volatile long noise_marks __attribute__((unused));
/* Each mark is also written here: 32 bytes take every hardware slot, more needs a region. It has a
 * page of its own, since whatever shares one with a region faults too. */
static volatile long noise_table[512] __attribute__((unused, aligned(4096)));
static int noise_over;
static pthread_t noise_threads[NOISE_THREADS];

static inline void nap(long microseconds)
{
	struct timespec pause = {microseconds / 1000000, microseconds % 1000000 * 1000};

	while (nanosleep(&pause, &pause) && errno == EINTR)
		;
}

static inline void noise_mark(void)
{
	noise_table[noise_marks % 4] = noise_marks;
	noise_marks++;
}

__attribute__((noinline, unused)) static void *noise_body(void *arg)
{
	while (!__atomic_load_n(&noise_over, __ATOMIC_RELAXED)) {
		for (volatile int i = 0; i < 2000; i++)
			;
		noise_counter++;
		if (noise_counter % 16 == 0)
			nap(1000);
		if (arg && noise_marks < NOISE_MARKS)
			noise_mark();
	}
	while (arg && noise_marks < NOISE_MARKS)
		noise_mark();
	return arg;
}

static inline void noise_start(void)
{
	for (int i = 0; i < NOISE_THREADS; i++)
		expect(pthread_create(&noise_threads[i], NULL, noise_body,
				      i == 0 ? &noise_threads[i] : NULL) == 0);
}

static inline void noise_stop(void)
{
	__atomic_store_n(&noise_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < NOISE_THREADS; i++)
		expect(pthread_join(noise_threads[i], NULL) == 0);
}

/* Enters "exited 3", "killed by 9" or the like in the transcript. */
static inline void say_end(const char *who, pid_t child)
{
	int status;

	expect(waitpid(child, &status, 0) == child);
	if (WIFEXITED(status))
		say("%s exited %d", who, WEXITSTATUS(status));
	else
		say("%s killed by %d", who, WTERMSIG(status));
}

#endif
