/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says "ready", waits for a line, then forks and joins, or creates and joins threads, so many times
 * and says how many milliseconds that took.
 *
 * usage: forker forks|threads COUNT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

long shared;
_Thread_local long own;

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void *write_own(void *arg)
{
	own++;
	return arg;
}

static int fork_once(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		shared++;
		_exit(0);
	}
	return child < 0 || waitpid(child, &status, 0) != child || status;
}

static int create_once(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, write_own, NULL) || pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[2]) : 0;
	char line[16];
	long begin;

	own = shared = 1;
	puts("ready");
	fflush(stdout);
	if (!count || !fgets(line, sizeof(line), stdin))
		return 2;
	begin = now();
	for (int i = 0; i < count; i++)
		if (strcmp(argv[1], "forks") == 0 ? fork_once() : create_once())
			return 1;
	printf("took %ld\n", now() - begin);
	fflush(stdout);
	return 0;
}
