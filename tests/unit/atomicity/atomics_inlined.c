/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the C library that compilers make instructions of: no symbol table has their names.
 * As a macro such a name may be anything.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

char buffer[16], copy[16];
double level;
long offset;
_Atomic long total;

static inline long store(_Atomic long *place, long value)
{
	atomic_store_explicit(place, value, memory_order_relaxed);
	return value;
}

#define strcpy(to, from) store((to), (from))

__attribute__((noinline)) void inlined(const char *from, double *to, long *distance)
{
	memset(buffer, 1, sizeof(buffer)); /* plain: */
	memcpy(copy, from, sizeof(copy));  /* plain: */
	*to = fabs(level);		   /* plain: */
	*distance = labs(offset);	   /* plain: */
}

__attribute__((noinline)) void renamed(long value)
{
	strcpy(&total, value); /* doubted: */
}

int main(int argc, char **argv)
{
	double to;
	long distance;

	inlined(argv[0], &to, &distance);
	renamed(argc);
	return to > (double)distance;
}
