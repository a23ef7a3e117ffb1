/* SPDX-License-Identifier: Apache-2.0 */
/* Correct functions that call none, and keep what they have below the stack pointer: nothing may be
 * reported. */
#include "cases.h"

/* An array that is indexed. */
APART static long leaf(long seed)
{
	volatile long table[12];

	for (int i = 0; i < 12; i++)
		table[i] = seed + i;
	return table[seed & 7];
}

static void red_zone(void)
{
	while (again())
		for (int i = 0; i < 1000; i++)
			cases_sum += (unsigned long)leaf(i);
}

/* The same through an address that an index makes: no register has it before. */
APART static long leaf_element(long seed)
{
	volatile long table[12];
	volatile long *element = &table[seed & 7];

	HIDE(element);
	for (int i = 0; i < 4; i++)
		*element++ = seed + i;
	return table[(seed & 7) + 1];
}

/* … and through one that goes on from the end of the frame. */
APART static long leaf_backwards(long seed)
{
	volatile long table[12];
	volatile long *element = table + 12;

	for (long i = 0; i <= (seed & 7); i++)
		*--element = seed + i;
	return *element;
}

static void red_zone_elements(void)
{
	while (again())
		for (int i = 0; i < 1000; i++)
			cases_sum += (unsigned long)(leaf_element(i) + leaf_backwards(i));
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {
		{"red_zone", red_zone}, {"red_zone_elements", red_zone_elements}, {NULL, NULL}};

	return run_case(cases, argc, argv);
}
