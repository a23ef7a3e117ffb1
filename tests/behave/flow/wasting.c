/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops whose waste is known from their source; tests/behave/flow/counted.c counts it exhaustively.
 *
 * usage: wasting CASE SECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE 4096

static uint64_t table[SIZE], other[SIZE], sink;
static volatile uint64_t *v = table, *w = other;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Each element is cleared before it is set: half of the stores are dead. */
static void half_dead(void)
{
	for (int i = 0; i < SIZE; i++)
		v[i] = 0;
	for (int i = 0; i < SIZE; i++)
		v[i] = (uint64_t)i * 3;
	for (int i = 0; i < SIZE; i++)
		sink += v[i];
}

/* Stores nothing new, ever, and reads it once each time. */
static void all_silent(void)
{
	for (int i = 0; i < SIZE; i++)
		v[i] = 7;
	for (int i = 0; i < SIZE; i++)
		sink += v[i];
}

/* Every second load repeats the one before. */
static void loads_twice(void)
{
	for (int i = 0; i < SIZE; i++)
		v[i] = sink + (uint64_t)i;
	for (int i = 0; i < SIZE; i++)
		sink += v[i] + v[i];
}

/* Nothing is wasted. */
static void clean(void)
{
	for (int i = 0; i < SIZE; i++)
		v[i] = sink + (uint64_t)i + 1;
	for (int i = 0; i < SIZE; i++)
		w[i] = v[i] * 2;
	for (int i = 0; i < SIZE; i++)
		sink += w[i];
}

/* A quarter of the stores is dead, and a loop of slow divisions takes most of the time. */
static void uneven(void)
{
	for (int i = 0; i < SIZE; i++) {
		v[i] = 1;
		v[i] = sink + (uint64_t)i;
		sink += v[i];
	}
	for (int i = 0; i < SIZE; i++) {
		w[i] = sink / (uint64_t)(i + 1) / 3;
		w[i] = w[i] / (uint64_t)(i + 7);
	}
}

/* Initialises a table that most calls use a part of. */
static void clears_all(void)
{
	unsigned used = 64 + (unsigned)(sink % 64);

	for (unsigned i = 0; i < 256; i++)
		v[i] = 0;
	for (unsigned i = 0; i < used; i++)
		v[i] = i + sink;
	for (unsigned i = 0; i < 256; i++)
		sink += v[i];
}

/* A counter in memory, as unoptimised code keeps it. */
static void counts_in_memory(void)
{
	for (int i = 0; i < SIZE; i++) {
		w[0] = w[0] + 1;
		v[i] = w[0];
	}
	for (int i = 0; i < SIZE; i++)
		sink += v[i];
}

/* Insertion into a sorted table, from the same random numbers. */
static void sorts(void)
{
	uint32_t random = 1;

	for (int i = 0; i < 200; i++) {
		int j = i;

		random = random * 1664525u + 1013904223u;
		for (; j > 0 && v[j - 1] > random; j--)
			v[j] = v[j - 1];
		v[j] = random;
	}
}

/* Matrices. */
static void multiplies(void)
{
	for (int i = 0; i < 24; i++)
		for (int j = 0; j < 24; j++) {
			w[24 * i + j] = 0;
			for (int k = 0; k < 24; k++)
				w[24 * i + j] = w[24 * i + j] + v[24 * i + k] * v[24 * k + j];
		}
	for (int i = 0; i < 24 * 24; i++)
		v[i] = w[i] % 1000 + 1;
}

/* A hash table with open addressing. */
static void hashes(void)
{
	for (int i = 0; i < 1024; i++)
		w[i] = 0;
	for (uint64_t i = 1; i < 600; i++) {
		uint64_t at = i * 2654435761u % 1024;

		while (w[at])
			at = (at + 1) % 1024;
		w[at] = i;
	}
	for (int i = 0; i < 1024; i++)
		sink += w[i];
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"half-dead", half_dead},     {"all-silent", all_silent},
	{"loads-twice", loads_twice}, {"clean", clean},
	{"uneven", uneven},	      {"clears-all", clears_all},
	{"counts", counts_in_memory}, {"sorts", sorts},
	{"multiplies", multiplies},   {"hashes", hashes},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(argv[1], cases[i].name) == 0) {
			double end = now() + strtod(argv[2], NULL);

			do
				for (int j = 0; j < 100; j++)
					cases[i].run();
			while (now() < end);
			printf("%d\n", sink == 1);
			return 0;
		}
	return 2;
}
