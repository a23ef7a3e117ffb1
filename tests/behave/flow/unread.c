/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of the heap of which it is known from the source how much is read before they are freed.
 *
 * usage: unread SECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile uint64_t sink;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void work(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink += i;
}

/* Written whole, never read. */
static void never_read(void)
{
	volatile uint64_t *block = malloc(64);

	for (int i = 0; i < 8; i++)
		block[i] = sink;
	work();
	free((void *)block);
}

/* One word of four is read. */
static void quarter_read(void)
{
	volatile uint64_t *block = malloc(32);

	for (int i = 0; i < 4; i++)
		block[i] = sink;
	work();
	sink += block[1];
	free((void *)block);
}

static void all_read(void)
{
	volatile uint64_t *block = malloc(48);

	for (int i = 0; i < 6; i++)
		block[i] = sink;
	work();
	for (int i = 0; i < 6; i++)
		sink += block[i];
	free((void *)block);
}

/* By the C library alone. */
static void read_by_library(void)
{
	char *block = malloc(40), copy[40];

	memset(block, 'a' + (int)(sink % 20), 39);
	block[39] = '\0';
	work();
	memcpy(copy, block, sizeof(copy));
	sink += (uint64_t)copy[7];
	free(block);
}

/* Asked for and given back. */
static void untouched(void)
{
	void *block = malloc(1000);

	__asm__ volatile("" : : "r"(block) : "memory");
	work();
	free(block);
}

/* Read when it is moved. */
static void moved(void)
{
	uint64_t *block = malloc(56), *larger;

	for (int i = 0; i < 7; i++)
		block[i] = sink;
	work();
	larger = realloc(block, 4000);
	if (!larger)
		abort();
	for (int i = 0; i < 500; i++)
		sink += larger[i % 7];
	for (int i = 7; i < 500; i++)
		larger[i] = sink;
	for (int i = 7; i < 500; i++)
		sink += ((volatile uint64_t *)larger)[i];
	free(larger);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);

	while (now() < end) {
		never_read();
		quarter_read();
		all_read();
		read_by_library();
		untouched();
		moved();
	}
	return 0;
}
