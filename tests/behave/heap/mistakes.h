/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs here share. Each is called as PROGRAM CASE, prints one line that is the same in
 * every run, and exits 0: each error is such that a bare run survives it. glibc's heap decides what
 * that takes, and the rules are these:
 *
 *  - A block has a neighbour of the same size behind it that is never freed. The byte behind a full
 *    block is the low one of the neighbour's size, and is overwritten with itself
 * (next_size_byte()).
 *  - The byte in front of a block is the high one of its own size: 0, and is overwritten with 0.
 *  - A freed block's first 16 bytes and, from 1032 bytes on, first 32 and last 8 are the
 * allocator's.
 */
#ifndef MISTAKES_H
#define MISTAKES_H

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

/* A copy of which the compiler knows nothing. */
#ifdef __cplusplus
template <typename type> static inline type hidden(type value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}
#else
#define hidden(value)                                           \
	({                                                      \
		__typeof__(((void)0, (value))) copy_ = (value); \
		__asm__ volatile("" : "+r"(copy_));             \
		copy_;                                          \
	})
#endif

/* What follows is not merged with, or jumped to from, what was before: a call stays a call. */
#define stay() __asm__ volatile("" : : : "memory")

static inline void *checked(void *block)
{
	if (!block) {
		fputs("no memory\n", stderr);
		exit(2);
	}
	return block;
}

static inline void require(bool true_here, const char *what)
{
	if (!true_here) {
		fprintf(stderr, "wrong: %s\n", what);
		exit(3);
	}
}

static inline uint8_t next_size_byte(size_t size)
{
	size_t chunk = (size + 8 + 15) & ~(size_t)15;

	return (uint8_t)((chunk < 32 ? 32 : chunk) | 1);
}

/* Large blocks stay in the heap, readable after they were freed. */
static inline void keep_large_blocks_mapped(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

/* Runs `body` in a thread of its own and waits for it. */
static inline void in_thread(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	require(pthread_create(&thread, NULL, body, argument) == 0, "pthread_create");
	pthread_join(thread, NULL);
}

struct test_case {
	const char *name;
	void (*run)(void);
};

static inline int run_case(const struct test_case *cases, size_t count, int argc, char **argv)
{
	static char output[256]; /* stdio shall not allocate one in a damaged heap */

	setvbuf(stdout, output, _IOFBF, sizeof(output));
	for (size_t i = 0; argc == 2 && i < count; i++) {
		if (strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].run();
			printf("%s: done\n", argv[1]);
			return 0;
		}
	}
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "%s %s\n", argv[0], cases[i].name);
	return 2;
}

#define CASES_MAIN(cases)                                                               \
	int main(int argc, char **argv)                                                 \
	{                                                                               \
		return run_case(cases, sizeof(cases) / sizeof((cases)[0]), argc, argv); \
	}

#endif
