/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known numbers of accesses: `count WRITES THREADS CHILDREN` writes `counter` WRITES times in each
 * of THREADS threads, then as often in each of CHILDREN forked processes, and ends with status 7.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int counter;
volatile int result;
static int writes;

__attribute__((noinline)) void increment(void)
{
	counter = counter + 1; /* the write */
}

__attribute__((noinline)) int look(void)
{
	return counter; /* the read */
}

static void *work(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < writes; i++)
		increment();
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 0, children = argc > 3 ? atoi(argv[3]) : 0;
	pthread_t thread;

	writes = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 0; i < threads; i++) {
		pthread_create(&thread, NULL, work, i % 2 ? "odd" : "even");
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < children; i++) {
		if (fork() == 0) {
			work("child");
			_exit(0);
		}
		wait(NULL);
	}
	result = look();
	printf("%d\n", counter);
	fflush(stdout);
	_exit(7);
}
