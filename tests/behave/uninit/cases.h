/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs here share: `PROGRAM CASE` runs one function of a table. */
#ifndef CASES_H
#define CASES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

struct row {
	const char *name;
	void (*run)(void);
};

static volatile long sink; /* keeps results */

/* Done or not, as a branch says. */
static NOINLINE __attribute__((unused)) void touch(void)
{
	sink++;
	__asm__ volatile("" : : : "memory");
}

/* Keeps the compiler from knowing what an address holds or where it leads. */
#define HIDE(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory")

static int run_case(const struct row *rows, size_t count, int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < count; i++)
		if (strcmp(rows[i].name, argv[1]) == 0) {
			rows[i].run();
			return 0;
		}
	for (size_t i = 0; i < count; i++)
		puts(rows[i].name);
	return argc > 1;
}

#define RUN_CASES(rows)                                                            \
	int main(int argc, char **argv)                                            \
	{                                                                          \
		return run_case(rows, sizeof(rows) / sizeof(rows[0]), argc, argv); \
	}

/* As much as `length` bytes of memory that was used and given back: no zeroes. */
static __attribute__((unused)) void dirty(size_t length)
{
	char *block = (char *)malloc(length);

	HIDE(block);
	memset(block, 0x5a, length);
	HIDE(block);
	free(block);
}

#endif
