/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs of known roads begin and end with, in C and C++: a value `made` that goes by
 * one road to `result`, another one beside it that does not, and a loop that lets them go.
 */
#ifndef FLOW_KINDS_H
#define FLOW_KINDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

uint64_t result;

static uint64_t seed = 12345, made, decoy;

struct road {
	const char *name;
	void (*run)(void);
};

static inline double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static APART void make(void)
{
	made = seed * 3 + 1;
}

static APART void make_decoy(void)
{
	decoy = seed * 5 + 2;
}

static inline void run(void (*function)(void), double seconds)
{
	double end = now() + seconds;
	volatile int pause;

	while (now() < end)
		for (int i = 0; i < 100; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			make_decoy();
			make();
			function();
			for (pause = 0; pause < 2000; pause = pause + 1)
				;
		}
}

/* main()'s: goes the road of that name for so many seconds. The program's status. */
static inline int run_road(const struct road *roads, size_t count, int argc, char **argv)
{
	if (argc != 3)
		return 2;
	for (size_t i = 0; i < count; i++)
		if (strcmp(argv[1], roads[i].name) == 0) {
			run(roads[i].run, strtod(argv[2], NULL));
			return 0;
		}
	return 2;
}

#endif
