/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bench/heap.py measures: heap errors that a bare run survives, and a heap that is busy.
 *
 *	heap past SIZE | before SIZE	one byte written out of a block of that size
 *	heap after SIZE			a freed block of that size read, beside 1,000 live ones
 *	heap rare KIND			100,000 blocks, one of which is written past (KIND past) or
 *					read when freed (KIND after)
 *	heap loop KIND SECONDS		the same again and again, 1,000 blocks a turn, 100 turns a
 *second heap churn THREADS PAIRS	malloc and free, nothing else; prints ns of CPU time a pair
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline, optnone))
#else
#define NOINLINE __attribute__((noinline, noipa))
#endif
#define LIVE 1000
#define RARE 100000
#define ERROR_SIZE 40

static void *checked(void *block)
{
	if (!block)
		exit(2);
	return block;
}

/* glibc's size of the block behind one of `size` bytes, if that is as large: it stays what it was.
 */
static uint8_t next_size_byte(size_t size)
{
	size_t chunk = (size + 8 + 15) & ~(size_t)15;

	return (uint8_t)((chunk < 32 ? 32 : chunk) | 1);
}

NOINLINE static char *allocate_wrong(size_t size)
{
	return checked(malloc(size));
}

NOINLINE static void free_wrong(char *block)
{
	free(block);
}

NOINLINE static void write_out(char *at, uint8_t value)
{
	*(volatile uint8_t *)at = value;
}

NOINLINE static uint8_t read_freed(const char *at)
{
	return *(const volatile uint8_t *)at;
}

NOINLINE static void *allocate_right(size_t size)
{
	return memset(checked(malloc(size)), 1, size);
}

/* A pointer of which the compiler knows nothing. */
static char *hidden(char *block)
{
	__asm__ volatile("" : "+r"(block));
	return block;
}

static void out_of_block(size_t size, long offset)
{
	char *block = allocate_wrong(size), *neighbour = allocate_wrong(size);

	write_out(block + offset, offset < 0 ? 0 : next_size_byte(size));
	free_wrong(block);
	(void)neighbour; /* stays: its size was written over with itself */
}

static void after_free(size_t size)
{
	void **live = checked(malloc(LIVE * sizeof(*live)));
	char *block;

	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	for (int i = 0; i < LIVE; i++)
		live[i] = allocate_right(64);
	block = allocate_wrong(size);
	memset(block, 1, size);
	memset(allocate_wrong(size), 1,
	       1); /* stays: the block is not merged with what is free behind */
	free_wrong(hidden(block));
	read_freed(block + size / 2);
	for (int i = 0; i < LIVE; i++)
		free(live[i]);
	free(live);
}

static void one_error(const char *kind)
{
	if (strcmp(kind, "past") == 0) {
		out_of_block(ERROR_SIZE + 1, ERROR_SIZE + 1);
		return;
	}
	char *block = allocate_wrong(ERROR_SIZE);

	free_wrong(hidden(block));
	read_freed(block + 24);
}

static void right_blocks(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free(allocate_right(8 + i % 500));
}

static int rare(const char *kind)
{
	right_blocks(RARE / 2);
	one_error(kind);
	right_blocks(RARE / 2);
	return 0;
}

static int loop(const char *kind, double seconds)
{
	const struct timespec turn = {0, 10000000};

	for (double turns = seconds * 100; turns > 0; turns--) {
		right_blocks(500);
		one_error(kind);
		right_blocks(500);
		nanosleep(&turn, NULL);
	}
	return 0;
}

static long pairs_each;

/* Sixteen blocks are alive at a time, of sizes up to 500 bytes. */
static void *churn(void *argument)
{
	void *blocks[16] = {NULL};
	unsigned seed = (unsigned)(uintptr_t)argument;

	for (long i = 0; i < pairs_each; i++) {
		seed = seed * 1664525 + 1013904223;
		free(blocks[seed >> 28]);
		blocks[seed >> 28] = malloc((seed >> 8) % 500 + 1);
	}
	for (int i = 0; i < 16; i++)
		free(blocks[i]);
	return NULL;
}

static int churn_in_threads(int count, long pairs)
{
	pthread_t threads[64];
	struct timespec used;

	pairs_each = pairs / count;
	for (int i = 0; i < count && i < 64; i++)
		pthread_create(&threads[i], NULL, churn, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < count && i < 64; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("%.3f\n", ((double)used.tv_sec * 1e9 + (double)used.tv_nsec) / (double)pairs);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	size_t size = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;

	if (strcmp(what, "past") == 0)
		out_of_block(size, (long)size);
	else if (strcmp(what, "before") == 0)
		out_of_block(size, -1);
	else if (strcmp(what, "after") == 0)
		after_free(size);
	else if (strcmp(what, "rare") == 0)
		return rare(argv[2]);
	else if (strcmp(what, "loop") == 0 && argc > 3)
		return loop(argv[2], atof(argv[3]));
	else if (strcmp(what, "churn") == 0 && argc > 3)
		return churn_in_threads(atoi(argv[2]), atol(argv[3]));
	else
		return fprintf(stderr, "see the head of bench/heap.c\n"), 2;
	return 0;
}
