/* SPDX-License-Identifier: Apache-2.0 */
#define SHARED_LIBRARY
#include "shared.h"

int verbose = 1;  /* the program has one of its own */
int copied = 2;	  /* the program has this one */
int replaced = 3; /* the program has another in its place */

int *library_verbose(void)
{
	return &verbose;
}

int *library_copied(void)
{
	return &copied;
}

int *library_replaced(void)
{
	return &replaced;
}

int library_code(int value)
{
	return early(value) + late(value);
}

/* Another of this name, which is in one piece. */
__attribute__((noinline)) static int divided(int value)
{
	return value * 11;
}

int library_divided(int value)
{
	return divided(value);
}
