/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patcher's work is done in portions, and after each it offers its CPU to the threads that wait
 * for it: they wait for one portion and not for all of them. The scheduler lets who runs go on for
 * up to three milliseconds otherwise. To yield costs half a microsecond where nobody waits; a sleep
 * would cost more than a portion, since it programs a timer.
 *
 * A thread that computes keeps the CPU for its whole slice. So that looking at many threads does
 * not take as many slices, portions grow where that happens.
 */
#include "patch/patch.h"

#include "base/syscall.h"

#include <time.h>

#define PORTION_NS                                                                                \
	10000u		  /* looks at five threads; the program's threads wait less than two hits \
			   */
#define LONGEST_NS 50000u /* the longest that portions grow to: less than ten hits */
#define SLICE_NS 500000u  /* a thread that keeps the CPU for so long computes */

/* When the portion began, by CLOCK_MONOTONIC, and how long it is, in ns; under the lock of
 * object.c. */
static uint64_t began, portion;

uint64_t patch_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void patch_pace_begin(void)
{
	began = patch_now_ns();
	portion = PORTION_NS;
}

void patch_pace(void)
{
	uint64_t ended = patch_now_ns();

	if (ended - began < portion)
		return;
	raw_syscall3(SYS_sched_yield, 0, 0, 0);
	began = patch_now_ns();
	if (began - ended > SLICE_NS && portion < LONGEST_NS)
		portion += PORTION_NS;
}
