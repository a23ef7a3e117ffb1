/* SPDX-License-Identifier: Apache-2.0 */
/* A branch that is never taken guards the other threads' variable: compilers load it all the same,
 * and leave it by a conditional move, or replace it by one. */
#include "../harness.h"

static long mine, others, settled = 5;

static __attribute__((noinline)) long read_if(int allowed)
{
	long value = 0;

	if (allowed)
		value = mine;
	return value;
}

static __attribute__((noinline)) long choose(int allowed)
{
	return allowed ? mine : settled;
}

static void *owner(void *arg)
{
	while (running()) {
		mine++;
		others += read_if(1);
		others += choose(1);
		pace_hot();
	}
	return arg;
}

static void *visitor(void *arg)
{
	while (running()) {
		consume((int)read_if((intptr_t)arg > 1000));
		consume((int)choose((intptr_t)arg > 1000));
		pace_hot();
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	settled += argc;
	harness_start(owner, 1);
	harness_start(visitor, harness_threads - 1);
	return harness_finish();
}
