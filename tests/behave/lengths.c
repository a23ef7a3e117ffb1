/* SPDX-License-Identifier: Apache-2.0 */
/* Every length from 1 to 8 at every alignment is watched to the byte. */
#include "check.h"

static _Alignas(64) volatile unsigned char bytes[64];

/* A hit beside the range is allowed only if it says that it may be. */
static void count_certain(tl_hit *hit, void *arg)
{
	long *hits = arg;

	hits[!!(tl_hit_access(hit) & TL_GUESSED)]++;
}

static void check_run(unsigned offset, unsigned length, unsigned access)
{
	for (unsigned at = 14; at < 34; at++) {
		bool inside = at >= offset && at < offset + length;
		long wanted = !inside ? 0 : access == (TL_READ | TL_WRITE) ? 2 : 1;
		volatile long hits[2] = {0, 0}; /* certain, guessed */
		tl_event *event = check_open(bytes + offset, length, access, TL_THREAD,
					     count_certain, (void *)hits);

		bytes[at] = 1;
		(void)bytes[at];
		CHECK(hits[0] <= wanted && hits[0] + hits[1] >= wanted,
		      "offset %u length %u access %u, byte %u: %ld hits and %ld guessed", offset,
		      length, access, at, hits[0], hits[1]);
		CHECK_OK(tl_event_close(event));
	}
}

static void touch_whole(unsigned offset)
{
	typedef unsigned long unaligned __attribute__((aligned(1)));
	volatile long hits = 0;
	tl_event *event =
		check_open(bytes + offset, 8, TL_WRITE, TL_THREAD, check_count_hit, (void *)&hits);

	/* One access that covers both slots is one hit. */
	*(volatile unaligned *)(bytes + offset) = 5;
	CHECK_EQUAL(hits, 1);
	CHECK_OK(tl_event_close(event));
}

int main(void)
{
	check_hardware();
	for (unsigned offset = 16; offset < 24; offset++) {
		touch_whole(offset);
		for (unsigned length = 1; length <= 8; length++) {
			check_run(offset, length, TL_WRITE);
			check_run(offset, length, TL_READ);
			check_run(offset, length, TL_READ | TL_WRITE);
		}
	}
	return 0;
}
