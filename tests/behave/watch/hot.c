/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A variable that is hit far too often: `hot ROUNDS WORK [FACTOR]` writes `hot` once every WORK
 * turns of a loop, ROUNDS times (a counter, or with FACTOR values without a pattern), and then
 * `cold` three times, and prints how long the loop took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

volatile long hot;
volatile int cold;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static long factor = 1;

__attribute__((noinline)) void touch(void)
{
	hot = hot * factor + 1; /* the write */
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1, work = argc > 2 ? atol(argv[2]) : 1;
	double begin = now();

	factor = argc > 3 ? atol(argv[3]) : 1;

	for (long i = 0; i < rounds; i++) {
		for (volatile long turn = 0; turn < work; turn = turn + 1)
			;
		touch();
	}
	begin = now() - begin;
	for (int i = 0; i < 3; i++)
		cold = cold + 1;
	printf("%.4f %ld\n", begin, hot);
	return 0;
}
