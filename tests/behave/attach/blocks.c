/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a heap to attach to: `blocks WHAT [SECONDS]`. It says "ready" when it runs and
 * "ok" at its end. Each round has one error, or none:
 *
 *	behind	a byte behind a block of 13 is written
 *	next	the word behind a block of 24, which is the next one's size, is read
 *	front	the byte before a block is read
 *	late	a block is read after it was freed, by another thread
 *	large	one of 3,000 bytes, far within, is written after it was freed
 *	grown	a byte behind what realloc() has returned is written
 *	zeroed	a byte behind what calloc() has returned is read
 *	copied	a function of the C library writes a byte behind a block
 *	right_recycled	threads hand blocks to each other, free and allocate all the time
 *	right_grown	blocks grow by realloc(), in place and elsewhere
 *	right_usable	what malloc_usable_size() tells is used
 *	right_threads	threads that allocate come and go, and with them their caches
 *	right_sizes	calloc(), memalign(), large blocks, and trimming
 *	right_strings	string functions up to the last byte
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORKERS 3
#define HANDED 64
#define SECOND 1000000000ull

static unsigned long long end;
static volatile long sink;
static _Atomic(char *) handed[HANDED];
static _Atomic unsigned wrong;

static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (unsigned long long)time.tv_sec * SECOND + (unsigned long long)time.tv_nsec;
}

static void nap(long nanoseconds)
{
	struct timespec time = {0, nanoseconds};

	nanosleep(&time, NULL);
}

/* Compilers see through malloc() and free(). */
__attribute__((noinline)) static void *hide(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

__attribute__((noinline)) static char *make(size_t size)
{
	char *block = hide(malloc(size));

	if (!block)
		abort();
	memset(block, 1, size);
	return block;
}

__attribute__((noinline)) static void drop(void *block)
{
	free(hide(block));
}

static void behind(unsigned round)
{
	char *block = make(13);

	((volatile char *)block)[13] = (char)round;
	drop(block);
}

static void next(unsigned round)
{
	volatile long *block = (volatile long *)make(24);

	sink = block[round ? 3 : 0];
	drop((void *)block);
}

static void front(unsigned round)
{
	volatile char *block = make(40);

	sink = block[round ? -1 : 0];
	drop((void *)block);
}

/* Nobody else wants blocks of that size meanwhile. */
static void late(unsigned round)
{
	char *block = atomic_exchange(&handed[0], NULL);

	if (block) {
		nap(1000000);
		for (int word = 2; word < 8; word++)
			sink = ((volatile long *)block)[word];
		return;
	}
	block = make(72);
	drop(block);
	atomic_store(&handed[0], block);
	for (unsigned i = 0; atomic_load(&handed[0]) && i < 3 + round % 3; i++)
		nap(500000);
}

static void large(unsigned round)
{
	volatile long *block = (volatile long *)make(3000);
	/* So that it does not become part of what lies behind. */
	void *behind_it = make(50);

	drop((void *)block);
	nap(1000000);
	for (int word = 4; word < 16; word++)
		block[word] = round;
	drop(behind_it);
}

static void grown(unsigned round)
{
	volatile char *block = realloc(make(20), 61);

	if (block)
		block[61] = (char)round;
	drop((void *)block);
}

static void zeroed(unsigned round)
{
	volatile char *block = hide(calloc(7, 3));

	sink = block[round ? 21 : 0];
	drop((void *)block);
}

static void copied(unsigned round)
{
	static char from[64];
	/* Not known to compilers, which would copy so little themselves. */
	volatile size_t length = round ? 30 : 0;
	char *block = make(29);

	memcpy(block, from, length);
	drop(block);
}

static void recycle(unsigned round)
{
	char *block = make(8 + round * 24 % 600);

	block = atomic_exchange(&handed[round % HANDED], block);
	if (!block)
		return;
	block[0] = (char)round;
	block[7]++;
	drop(block);
	/* What was freed a moment ago is the next one's. */
	block = make(8 + (round + 7) * 24 % 600);
	block[0]++;
	drop(block);
}

static void grow(unsigned round)
{
	size_t size = 1 + round % 50;
	char *block = make(size), *other = round % 3 ? make(size) : NULL;

	for (int i = 0; i < 12; i++) {
		size_t larger = size + 1 + size / (i % 2 ? 8 : 2);

		block = hide(realloc(block, larger));
		memset(block + size, i, larger - size);
		size = larger;
	}
	block = hide(realloc(block, 5));
	block[4] = 1;
	drop(other);
	drop(block);
}

static void use_all(unsigned round)
{
	char *block = make(1 + round % 90);
	size_t size = malloc_usable_size(block);

	memset(block, 2, size);
	drop(block);
	block = make(20);
	drop(block);
}

static void *allocate_some(void *unused)
{
	char *block[40];

	for (int i = 0; i < 40; i++)
		block[i] = make((size_t)(20 + i * 8));
	for (int i = 0; i < 40; i++)
		drop(block[i]);
	return unused;
}

static void churn(unsigned round)
{
	pthread_t thread;
	char *block = make(30 + round % 200);

	if (!pthread_create(&thread, NULL, allocate_some, NULL))
		pthread_join(thread, NULL);
	block[29] = 1;
	drop(block);
}

static void all_sizes(unsigned round)
{
	size_t size = 1 + round % 2000;
	char *zero = hide(calloc(size, 3)), *aligned = hide(memalign(64, size));
	char *big = make(70000 + round % 200000), *small = make(size);

	for (size_t i = 0; i < size; i++)
		if (zero[i])
			atomic_fetch_add(&wrong, 1);
	memset(zero, 3, size * 3);
	memset(aligned, 3, size);
	drop(zero);
	drop(small);
	drop(big);
	drop(aligned);
	if (round % 64 == 0)
		malloc_trim(0);
}

static void use_strings(unsigned round)
{
	size_t size = 2 + round % 70;
	char *block = make(size), *copy;

	block[size - 1] = '\0';
	copy = hide(strdup(block));
	if (strlen(block) != size - 1 || strcmp(block, copy) != 0 || strchr(copy, 'x') ||
	    memchr(block, 0, size) != block + size - 1)
		atomic_fetch_add(&wrong, 1);
	snprintf(block, size, "%u", round);
	drop(copy);
	drop(block);
}

static const struct {
	const char *name;
	void (*round)(unsigned round);
} kinds[] = {{"behind", behind},
	     {"next", next},
	     {"front", front},
	     {"late", late},
	     {"large", large},
	     {"grown", grown},
	     {"zeroed", zeroed},
	     {"copied", copied},
	     {"right_recycled", recycle},
	     {"right_grown", grow},
	     {"right_usable", use_all},
	     {"right_threads", churn},
	     {"right_sizes", all_sizes},
	     {"right_strings", use_strings}};

static void *work(void *round)
{
	for (unsigned i = 1; now() < end; i++) {
		((void (*)(unsigned))(uintptr_t)round)(i);
		if (i % 16 == 0)
			nap(50000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[WORKERS];
	void *round = NULL;

	for (unsigned i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			round = (void *)(uintptr_t)kinds[i].round;
	if (!round)
		return 2;
	end = now() + (argc > 2 ? strtoul(argv[2], NULL, 10) : 10) * SECOND;
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&thread[i], NULL, work, round);
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	printf(wrong ? "wrong\n" : "ok\n");
	return wrong != 0;
}
