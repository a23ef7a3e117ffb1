/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says "ready", waits for a line, then forks and joins, creates and joins threads, or allocates and
 * frees blocks, so many times and says how many milliseconds that took.
 *
 * usage: forker forks|threads|blocks COUNT
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

/* Some of several pages. */
static int allocate_once(int turn)
{
	char *block = malloc(100 + (size_t)(turn % 5) * 3000);

	if (!block)
		return 1;
	memset(block, turn, 100);
	free(block);
	return 0;
}

static int do_once(const char *what, int turn)
{
	if (strcmp(what, "blocks") == 0)
		return allocate_once(turn);
	return strcmp(what, "forks") == 0 ? fork_once() : create_once();
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
		if (do_once(argv[1], i))
			return 1;
	printf("took %ld\n", now() - begin);
	fflush(stdout);
	return 0;
}
