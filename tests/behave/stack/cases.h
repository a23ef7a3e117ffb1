/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs here share. A program takes the name of a case and the seconds to run:
 * `again()` is true until then. Names tell the runner what a finding must be about: the frame that
 * is gone is that of a function called leave_…, the access to it is made in one called touch_…; an
 * overwritten frame is that of victim_…, and the write is made in overrun_… or in what it calls.
 */
#ifndef CASES_H
#define CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#ifdef __clang__
#undef APART
#define APART __attribute__((noinline))
#endif

static double cases_end;
static volatile unsigned long cases_sum;

static double cases_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int again(void)
{
	return cases_now() < cases_end;
}

/* Some hundred instructions, so that the error is not all that the program does. */
APART static void work(void)
{
	unsigned long sum = cases_sum;

	for (int i = 0; i < 200; i++)
		sum = sum * 31 + (unsigned long)i;
	cases_sum = sum;
}

/* Nobody who optimises sees where the pointer comes from. */
#define HIDE(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory")

struct one_case {
	const char *name;
	void (*run)(void);
};

static int run_case(const struct one_case *cases, int argc, char **argv)
{
	for (cases_end = cases_now() + (argc > 2 ? atof(argv[2]) : 10.); argc > 1 && cases->name;
	     cases++)
		if (strcmp(cases->name, argv[1]) == 0) {
			cases->run();
			return 0;
		}
	fprintf(stderr, "no such case\n");
	return 2;
}

#endif
