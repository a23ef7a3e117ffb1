/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads race; then a pipe that nobody writes to takes the place of the program's own file, they
 * race in code that was not run before, and the program is killed while they are at it: what is
 * still to be learned of that code can be read in the file alone.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

long shared;
static volatile int place; /* -1: elsewhere */

static void before(void)
{
	const struct timespec pause = {0, 20000};

	for (int i = 0; i < 200; i++) {
		shared++;
		__asm__ volatile("" : : : "memory");
	}
	nanosleep(&pause, NULL);
}

/* Each on a line of its own of what the controller keeps of code. */
#define ONE                                                           \
	do {                                                          \
		shared++;                                             \
		__asm__ volatile(".p2align 6\n\tnop" : : : "memory"); \
	} while (0);
#define FOUR ONE ONE ONE ONE
#define MANY FOUR FOUR FOUR FOUR

static void after(void)
{
	MANY MANY MANY MANY
}

static void *race(void *arg)
{
	for (;;)
		if (place)
			after();
		else
			before();
	return arg;
}

int main(int argc, char **argv)
{
	const struct timespec long_enough = {0, 300000000}, shortly = {0, 5000000};
	pthread_t thread;

	(void)argc;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, race, NULL);
	nanosleep(&long_enough, NULL);
	if (unlink(argv[0]) || mkfifo(argv[0], 0600))
		exit(2);
	place = 1;
	nanosleep(&shortly, NULL);
	kill(getpid(), SIGKILL);
	return 3;
}
