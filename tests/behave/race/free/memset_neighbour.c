/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread clears its own part of a line, of which another's begins right behind. Where the
 * processor has mask registers, memset() of 24 bytes is a store of 32 or 64 with the rest masked
 * out, and some processors trip at a watchpoint there.
 */
#include "../harness.h"

#include <string.h>

#define PART 24

static struct {
	_Alignas(64) char cleared[PART];
	long counted[4];
} shared;

static void *clear(void *arg)
{
	size_t length = PART;

	while (running()) {
		__asm__("" : "+r"(length)); /* else the compiler stores by itself */
		memset(shared.cleared, (int)length, length);
		pace_warm();
	}
	return arg;
}

static void *count(void *arg)
{
	while (running()) {
		for (int i = 0; i < 4; i++)
			shared.counted[i] += i;
		pace_warm();
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(clear, 1);
	harness_start(count, 1);
	return harness_finish();
}
