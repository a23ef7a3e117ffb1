/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A race of known frequency in a program with much other code in use, for bench/fleet.py: two
 * threads touch one word, each at random moments FREQUENCY times a second on average; two more run
 * functions drawn from SITES, on memory of their own, for about a tenth of a CPU each.
 *
 * usage: fleet_race SECONDS FREQUENCY
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SITES 256 /* functions, of four memory accesses each */

static int shared;
static int stop;
static double frequency;

struct own {
	uint64_t random;
	long cells[64];
};

static uint64_t draw(struct own *own)
{
	own->random ^= own->random << 13;
	own->random ^= own->random >> 7;
	own->random ^= own->random << 17;
	return own->random;
}

#define SITE(number)                                                                  \
	__attribute__((noinline)) static void site_##number(struct own *own, long at) \
	{                                                                             \
		own->cells[(at + (number)) & 63] += own->cells[at & 63] ^ (number);   \
		own->cells[(at * 3) & 63] = (number);                                 \
	}
#define SITES_4(n) SITE(n##0) SITE(n##1) SITE(n##2) SITE(n##3)
#define SITES_16(n) SITES_4(n##0) SITES_4(n##1) SITES_4(n##2) SITES_4(n##3)
#define SITES_64(n) SITES_16(n##0) SITES_16(n##1) SITES_16(n##2) SITES_16(n##3)
SITES_64(10)
SITES_64(11)
SITES_64(12)
SITES_64(13)

#define NAME(number) site_##number,
#define NAMES_4(n) NAME(n##0) NAME(n##1) NAME(n##2) NAME(n##3)
#define NAMES_16(n) NAMES_4(n##0) NAMES_4(n##1) NAMES_4(n##2) NAMES_4(n##3)
#define NAMES_64(n) NAMES_16(n##0) NAMES_16(n##1) NAMES_16(n##2) NAMES_16(n##3)
static void (*const sites[])(struct own *,
			     long) = {NAMES_64(10) NAMES_64(11) NAMES_64(12) NAMES_64(13)};
_Static_assert(sizeof(sites) / sizeof(sites[0]) == SITES, "as many as the model is told");

static void pause_for(double seconds)
{
	struct timespec pause = {(time_t)seconds, 0};

	pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
	while (nanosleep(&pause, &pause))
		;
}

/* Waits as between the events of a Poisson process; two seconds at most, to see the end. */
static void pause_at_random(struct own *own)
{
	double unit = (double)(draw(own) >> 11) / 9007199254740992.0 + 1e-12;
	double seconds = -log(unit) / frequency;

	while (seconds > 0 && !__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		pause_for(seconds < 1 ? seconds : 1);
		seconds -= 1;
	}
}

static void *write_seldom(void *own)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		pause_at_random(own);
		shared = (int)draw(own);
	}
	return NULL;
}

static void *read_seldom(void *arg)
{
	struct own *own = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		pause_at_random(own);
		own->cells[0] += shared;
	}
	return NULL;
}

static void *work(void *arg)
{
	struct own *own = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (int i = 0; i < 20000; i++) {
			uint64_t number = draw(own);

			sites[number % SITES](own, (long)(number >> 32));
		}
		pause_for(1e-3);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	void *(*const bodies[])(void *) = {write_seldom, read_seldom, work, work};
	static struct own own[4];
	pthread_t threads[4];

	if (argc != 3) {
		fputs("usage: fleet_race SECONDS FREQUENCY\n", stderr);
		return 2;
	}
	frequency = atof(argv[2]);
	for (int i = 0; i < 4; i++) {
		own[i].random = (uint64_t)time(NULL) * 2654435761u + (uint64_t)i * 97 + 1;
		if (pthread_create(&threads[i], NULL, bodies[i], &own[i]))
			return 2;
	}
	pause_for(atof(argv[1]));
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
