/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the C library that read memory of their caller, one after the other, and another
 * thread that stores behind the last byte that each may read (`behind`: no race) or to that byte
 * (`last`: a race).  Usage: PROGRAM SECONDS behind|last [NAME…].
 *
 * The functions stand in strings.def: each in a cell of its own, whose text ends in its midst.
 */
#include <monetary.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <wchar.h>

#define CELL 8192 /* bytes of a text: places count from a page's beginning */

struct cell {
	union {
		char text[CELL];
		wchar_t wide[CELL / sizeof(wchar_t)];
	};
	union {
		char twin[CELL];
		wchar_t wide_twin[CELL / sizeof(wchar_t)];
	};
};

#define consume(value) __asm__ volatile("" : : "r"(value))

enum row {
#define CASE(name, at, string, last, call) ROW_##name,
#define WIDE(name, at, string, last, call) ROW_##name,
#include "strings.def"
#undef CASE
#undef WIDE
	ROWS
};

static struct cell cells[ROWS] __attribute__((aligned(4096)));
static char scratch[CELL];
static wchar_t wide_scratch[64];
static int stop;

#define CASE(name, at, string, last, call)                                                   \
	static __attribute__((noinline)) void read_##name(void)                              \
	{                                                                                    \
		char *s = cells[ROW_##name].text + (at), *t = cells[ROW_##name].twin + (at); \
                                                                                             \
		(void)t;                                                                     \
		consume(call);                                                               \
	}
#define WIDE(name, at, string, last, call)                       \
	static __attribute__((noinline)) void read_##name(void)  \
	{                                                        \
		wchar_t *s = cells[ROW_##name].wide + (at),      \
			*t = cells[ROW_##name].wide_twin + (at); \
                                                                 \
		(void)t;                                         \
		consume(call);                                   \
	}
#include "strings.def"
#undef CASE
#undef WIDE

struct row_of {
	const char *name;
	void (*read)(void);
	unsigned at, width, length, last;
	const void *string;
	int wanted;
};

static struct row_of rows[ROWS] = {
#define CASE(name, at, string, last, call) \
	{#name, read_##name, at, 1, sizeof(string), last, string, 0},
#define WIDE(name, at, string, last, call) \
	{#name, read_##name, at, 4, sizeof(string), last, string, 0},
#include "strings.def"
#undef CASE
#undef WIDE
};

static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

static void *reader(void *arg)
{
	for (unsigned turn = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); turn++)
		for (unsigned i = 0; i < ROWS; i++)
			if (rows[i].wanted) {
				rows[i].read();
				work(200);
			}
	return arg;
}

static __attribute__((noinline)) void store(volatile char *to, char value)
{
	*to = value;
}

/* The byte there, or the one behind, as it was. */
static void *writer(void *behind)
{
	for (unsigned turn = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); turn++)
		for (unsigned i = 0; i < ROWS; i++) {
			const struct row_of *row = &rows[i];
			unsigned byte = (row->at + row->last + (behind != NULL)) * row->width;

			if (!row->wanted)
				continue;
			store(cells[i].text + byte, cells[i].twin[byte]);
			work(200);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	struct timespec pause = {atoi(argv[1]), 0};
	int behind = strcmp(argv[2], "behind") == 0;
	pthread_t threads[2];

	for (unsigned i = 0; i < ROWS; i++) {
		char *text = cells[i].text + rows[i].at * rows[i].width;

		/* What stands around is neither a terminator nor equal. */
		memset(cells[i].text, '#', sizeof(cells[i].text));
		memcpy(text, rows[i].string, rows[i].length);
		memcpy(cells[i].twin, cells[i].text, sizeof(cells[i].twin));
		rows[i].wanted = argc < 4;
		for (int j = 3; j < argc; j++)
			rows[i].wanted |= strcmp(argv[j], rows[i].name) == 0;
	}
	pthread_create(&threads[0], NULL, reader, NULL);
	pthread_create(&threads[1], NULL, writer, behind ? argv : NULL);
	nanosleep(&pause, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
