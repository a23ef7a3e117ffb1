/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to be limited by one means or another, that measures by its own clocks what it got.
 * Prints one JSON object.
 *
 * usage: throttle spin SECONDS [BESIDE]
 *		all the time: its share of a CPU, and its longest pause. BESIDE: a second thread
 *		that `spin`s too, `fork`s children of 5 ms of CPU time each, `sleep`s 5 ms after
 *		each 5 ms of CPU time, or `block`s all signals, as the first does then
 *	  throttle service SECONDS
 *		a thread `front` that wants to run for a moment every millisecond, beside two
 *		threads `compress-…` that run all the time: how late `front` is
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WAKES 100000
#define INTERVAL 1000000ull
#define TURN 5000000ull

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

static void use(uint64_t length)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + length;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static void *fork_thread(void *unused)
{
	for (;;) {
		pid_t child = fork();

		if (child == 0) {
			use(TURN);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	return unused;
}

static void *sleep_thread(void *unused)
{
	for (;;) {
		use(TURN);
		usleep(TURN / 1000);
	}
	return unused;
}

static const struct beside {
	const char *name;
	void *(*thread)(void *);
} besides[] = {
	{"spin", spin_thread},
	{"fork", fork_thread},
	{"sleep", sleep_thread},
	{"block", spin_thread},
};

static int start_beside(const char *name)
{
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	if (!strcmp(name, "block"))
		sigprocmask(SIG_SETMASK, &all, NULL);
	for (size_t i = 0; i < sizeof(besides) / sizeof(besides[0]); i++)
		if (!strcmp(name, besides[i].name))
			return pthread_create(&thread, NULL, besides[i].thread, NULL);
	return -1;
}

/* Of the process and its children that have ended, to the microsecond. */
static uint64_t used(void)
{
	struct rusage children;

	getrusage(RUSAGE_CHILDREN, &children);
	return now(CLOCK_PROCESS_CPUTIME_ID) +
	       (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1000u;
}

static void spin(uint64_t length)
{
	uint64_t begun, cpu, last, time, longest = 0;

	begun = last = now(CLOCK_MONOTONIC);
	cpu = used();
	do {
		time = now(CLOCK_MONOTONIC);
		if (time - last > longest)
			longest = time - last;
		last = time;
	} while (time - begun < length);
	cpu = used() - cpu;
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

	if (length && !strcmp(argv[1], "spin") && (argc == 3 || !start_beside(argv[3])))
		spin(length);
	if (length && !strcmp(argv[1], "service"))
		service(length);
	fprintf(stderr, "usage: throttle spin SECONDS [spin|fork|sleep|block] | service SECONDS\n");
	return 2;
}
