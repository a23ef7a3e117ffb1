/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with children: `family EARLY LATE WRITES` forks EARLY children, says "ready", and at a
 * line on its standard input lets each of them write `shared` WRITES times, forks LATE more, which
 * do so as well, each in a thread of its own and in a child of its own, and writes WRITES times
 * itself. Then a child executes /bin/true. `family execute` executes /bin/cat instead of all that.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long shared;
static long writes;

__attribute__((noinline)) void store(long value)
{
	shared = value; /* the write */
}

static void *work(void *name)
{
	prctl(PR_SET_NAME, name);
	for (long i = 1; i <= writes; i++) {
		store(i);
		usleep(500);
	}
	return NULL;
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0)
		;
}

static void late(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, "thread");
	if (fork() == 0) {
		work("grandchild");
		_exit(0);
	}
	work("late");
	pthread_join(thread, NULL);
	wait_for_all();
	_exit(0);
}

static void early(int from)
{
	char byte;

	if (read(from, &byte, 1) == 0)
		work("early");
	_exit(0);
}

int main(int argc, char **argv)
{
	int earlies = argc > 3 ? atoi(argv[1]) : 0, lates = argc > 3 ? atoi(argv[2]) : 0, gate[2];

	writes = argc > 3 ? atol(argv[3]) : 1;
	if (pipe(gate))
		return 1;
	for (int i = 0; i < earlies; i++)
		if (fork() == 0) {
			close(gate[1]);
			early(gate[0]);
		}
	puts("ready");
	fflush(stdout);
	getchar();
	if (argc > 1 && strcmp(argv[1], "execute") == 0)
		execl("/bin/cat", "cat", (char *)NULL);
	close(gate[1]);
	for (int i = 0; i < lates; i++)
		if (fork() == 0)
			late();
	work("main");
	if (fork() == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	wait_for_all();
	return 0;
}
