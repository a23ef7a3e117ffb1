/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service in small: two threads race on one variable and one of them writes another a known
 * number of times, for as long as told and until that is done; then it ends with status 3.
 *
 *	racer SECONDS [background]	in the background: forks twice, as daemon(3), and the
 *					first process ends at once with status 4
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WRITES 500

volatile int counted;
static volatile int raced;
static int stop;

static void *race(void *count)
{
	const struct timespec pause = {0, 100000};

	for (int writes = 0;
	     !__atomic_load_n(&stop, __ATOMIC_RELAXED) || (count && writes < WRITES);) {
		for (int i = 0; i < 500; i++)
			raced++;
		if (count && writes < WRITES) {
			counted = writes;
			writes++;
		}
		nanosleep(&pause, NULL);
	}
	return count;
}

static void go_into_background(void)
{
	if (fork() > 0)
		_exit(4);
	setsid();
	if (fork() > 0)
		_exit(0);
	for (int fd = 0, null = open("/dev/null", O_RDWR); fd < 3; fd++)
		dup2(null, fd);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc < 2)
		return 2;
	if (argc > 2 && strcmp(argv[2], "background") == 0)
		go_into_background();
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, race, i ? &threads[i] : NULL);
	usleep((useconds_t)(atof(argv[1]) * 1e6));
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 3;
}
