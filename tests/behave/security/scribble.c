/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watched, it races a little, so that hits come, and writes random words all over the area it
 * shares with its controller: the states, indices, lengths and pids of processes that are none of
 * its own. Says at the end that it could do so, and ends with status 5.
 *
 * usage: scribble SECONDS SEED FOREIGN_PID
 */
#include "../own_area.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long shared;
static int stop;
static uint32_t *area;
static size_t words;
static uint64_t state;
static uint32_t foreign;

static uint32_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 16);
}

static void find_area(void)
{
	size_t length = 0;

	area = own_area(&length);
	words = length / 4;
}

static uint32_t evil(void)
{
	switch (draw() % 6) {
	case 0:
		return 0xffffffff;
	case 1:
		return draw() % 6; /* a state, an index */
	case 2:
		return foreign;
	case 3:
		return (uint32_t)getpid();
	case 4:
		return 0x7fffffff + draw() % 3;
	default:
		return draw();
	}
}

static void *race(void *arg)
{
	const struct timespec pause = {0, 100000};

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (int i = 0; i < 500; i++) {
			shared++;
			__asm__ volatile("" : : : "memory");
		}
		nanosleep(&pause, NULL);
	}
	return arg;
}

int main(int argc, char **argv)
{
	const struct timespec pause = {0, 20000};
	pthread_t threads[2];
	unsigned long written = 0;
	time_t end;

	if (argc != 4)
		return 2;
	state = strtoull(argv[2], NULL, 10) * 2654435761u + 88172645463325252u;
	foreign = (uint32_t)atoi(argv[3]);
	find_area();
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, race, NULL);
	end = time(NULL) + atoi(argv[1]);
	while (time(NULL) < end) {
		for (int i = 0; area && i < 40; i++, written++)
			area[draw() % words] = evil();
		nanosleep(&pause, NULL);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("scribbled over %zu words, %lu times\n", words, written);
	return 5;
}
