/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races of many places in two processes of three threads each, so that findings keep coming for a
 * while; says so when it ends by itself, with status 7.
 *
 * usage: racer SECONDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLACES 16

static long cells[PLACES];
static struct timespec end;

#define PLACE(number)                                                    \
	__attribute__((noinline)) static void place_##number(long value) \
	{                                                                \
		cells[number] += value;                                  \
		__asm__ volatile("" : : : "memory");                     \
	}
PLACE(0)
PLACE(1)
PLACE(2)
PLACE(3)
PLACE(4)
PLACE(5)
PLACE(6)
PLACE(7)
PLACE(8)
PLACE(9)
PLACE(10)
PLACE(11)
PLACE(12)
PLACE(13)
PLACE(14)
PLACE(15)

static void (*const places[PLACES])(long) = {place_0,  place_1,	 place_2,  place_3,
					     place_4,  place_5,	 place_6,  place_7,
					     place_8,  place_9,	 place_10, place_11,
					     place_12, place_13, place_14, place_15};

static int is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}

static void *work(void *arg)
{
	const struct timespec pause = {0, 200000};

	while (!is_over()) {
		for (int i = 0; i < 2000; i++)
			places[i % PLACES](i);
		nanosleep(&pause, NULL);
	}
	return arg;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	pthread_t threads[2];
	int status = 0;
	pid_t child;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += (long)((seconds - (double)(long)seconds) * 1e9);
	end.tv_sec += (long)seconds + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	child = fork();
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	work(NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (child == 0)
		_exit(0);
	waitpid(child, &status, 0);
	puts("the program ended by itself");
	return status ? 1 : 7;
}
