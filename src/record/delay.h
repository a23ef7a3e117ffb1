/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hold delays, all together: the thread, and the work that comes to it meanwhile.
 *
 * A thread is handed work `wakes` times a second, by clients, timers or other threads: so often it
 * would wake, did it each piece at once. While it is held for H seconds wakes * H pieces come and
 * wait, each for half of that in the mean. So a hold delays by H + wakes * H * H / 2: of a thread
 * to which work seldom comes, by H; of an event loop by many times that, and by less where the same
 * time is made of shorter holds.
 * Whoever's share of delay is bounded by one percent has the mean of all waits lengthened by no
 * more, as long as one piece of work is always on its way there.
 *
 * Pure arithmetic, of numbers that may be anything: they stand in the area. Async-signal-safe.
 */
#ifndef RECORD_DELAY_H
#define RECORD_DELAY_H

#include <stdint.h>

#define DELAY_BUSY_MOST 32.0
#define DELAY_WAKES_MOST 1000000u /* so that no product below overflows */

/*
 * Pieces of work a second that come to a thread which goes to sleep `sleeps` times a second and is
 * busy for this share of the time. What comes while it is busy ends no sleep: but where work comes
 * at any time, a sleep lasts as long in the mean as passes from one piece to the next, so that
 * pieces a second are sleeps divided by the share of time that is slept. Of one that hardly sleeps
 * no more than DELAY_BUSY_MOST times its sleeps are believed.
 */
static inline double delay_arrivals(double sleeps, double busy)
{
	double asleep = 1 - busy;

	return asleep * DELAY_BUSY_MOST > 1 ? sleeps / asleep : sleeps * DELAY_BUSY_MOST;
}

/* A measured rate as it is written to the area. */
static inline uint32_t delay_wakes(double rate)
{
	return rate < DELAY_WAKES_MOST ? (uint32_t)rate : DELAY_WAKES_MOST;
}

/* ns of delay that a hold of so many ns makes. `wakes`: a second, of the thread. */
static inline uint64_t delay_of_hold(uint64_t hold, uint32_t wakes)
{
	uint64_t rate = wakes < DELAY_WAKES_MOST ? wakes : DELAY_WAKES_MOST;
	uint64_t thousandths = rate * (hold / 1000) / 1000; /* of a piece of work that comes */

	return hold + hold / 2000 * thousandths;
}

/* The longest hold, in eighths at a time from `hold` down to `least`, that delays by no more than
 * `most` ns; `least`, if none does. */
static inline uint64_t delay_longest_hold(uint64_t hold, uint64_t least, uint64_t most,
					  uint32_t wakes)
{
	while (hold > least && delay_of_hold(hold, wakes) > most) {
		uint64_t shorter = hold - hold / 8 - 1;

		hold = shorter > least ? shorter : least;
	}
	return hold;
}

#endif
