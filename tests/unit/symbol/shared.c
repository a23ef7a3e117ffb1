/* SPDX-License-Identifier: Apache-2.0 */
/* A program that shares names with its library, and has bit-fields and a function in two parts. It
 * prints where they are, and stops itself. */
#include "shared.h"

#include <signal.h>
#include <stdio.h>

extern int copied;
int *library_verbose(void), *library_copied(void), *library_replaced(void);
int library_code(int value), library_divided(int value);

static int verbose = 4;
int replaced = 5;

struct bits {
	unsigned a : 8, b : 8, c : 8, d : 8;
	unsigned low : 3, high : 5, wide : 20, : 0;
	int plain;
} bits;

__attribute__((cold, noinline)) void fail(int value)
{
	fprintf(stderr, "%d\n", value);
}

__attribute__((noinline)) static int divided(int value)
{
	if (value < 0) {
		fail(value + replaced);
		fail(value);
	}
	return value * 3 + replaced;
}

/* What only main() calls runs once, too, and is not divided. */
__attribute__((noinline)) int often(int value)
{
	return divided(value);
}

int main(void)
{
	verbose += copied;
	bits.c = (unsigned)late(library_code(library_divided(often(verbose))));
	printf("%p %p %p %p %p %p\n", (void *)library_verbose(), (void *)library_copied(),
	       (void *)library_replaced(), (void *)&replaced, (void *)&bits, (void *)divided);
	fflush(stdout);
	raise(SIGSTOP);
	return 0;
}
