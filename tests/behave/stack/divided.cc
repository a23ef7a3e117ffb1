/* SPDX-License-Identifier: Apache-2.0 */
/* Correct functions that come to one place from a part that lies elsewhere, too, or from a landing
 * pad of exceptions, with a pointer to a local: nothing may be reported. */
#include "cases.h"

struct box {
	long ready, value[7];
};

static volatile int thrown = 1;

__attribute__((cold)) APART static void fill(struct box *box)
{
	for (long i = 0; i < 7; i++)
		box->value[i] = i;
}

APART static void raise_it(void)
{
	if (thrown)
		throw 1;
}

APART static long sum_seldom(struct box *box)
{
	struct box own;
	long sum = 0;

	if (__builtin_expect(!box->ready, 0)) {
		fill(&own);
		box = &own;
	}
	for (int i = 0; i < 70; i++) {
		box->value[i % 7] += i;
		sum += *(volatile long *)&box->value[0];
	}
	return sum;
}

APART static long sum_caught(struct box *box)
{
	struct box own;
	long sum = 0;

	try {
		raise_it();
	} catch (int) {
		fill(&own);
		box = &own;
	}
	for (int i = 0; i < 3000; i++) {
		box->value[i % 7] += i;
		sum += *(volatile long *)&box->value[0];
	}
	return sum;
}

/* No call, and what it keeps lies below the stack pointer. */
APART static long sum_leaf(struct box *box, long from)
{
	volatile long own[8];
	volatile long *value = box->value;

	for (int i = 0; i < 8; i++)
		own[i] = from;
	if (__builtin_expect(!box->ready, 0))
		value = &own[from & 1];
	HIDE(value);
	for (int i = 0; i < 6; i++)
		value[i] += i;
	return own[3];
}

static struct box given;

static void seldom(void)
{
	while (again())
		for (int i = 0; i < 100; i++)
			cases_sum += (unsigned long)sum_seldom(&given);
}

static void caught(void)
{
	while (again())
		cases_sum += (unsigned long)sum_caught(&given);
}

static void leaf(void)
{
	while (again())
		for (int i = 0; i < 1000; i++)
			cases_sum += (unsigned long)sum_leaf(&given, i);
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"divided_seldom", seldom},
						{"divided_caught", caught},
						{"divided_leaf", leaf},
						{NULL, NULL}};

	return run_case(cases, argc, argv);
}
