/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A budget of so many units per second, kept as one number: the time at which all that was used so
 * far will have been earned (the generic cell rate algorithm, ITU-T I.371, as virtual scheduling).
 * Use moves it on by what it costs; whoever finds it in the future waits until then. Each of
 * several that share it waits for its own use, so they go on one after the other. Credit for idling
 * is bounded by never letting it fall behind now by more than the burst.
 *
 * Plain words that threads and processes may share; async-signal-safe.
 */
#ifndef BASE_RATE_H
#define BASE_RATE_H

#include <stdint.h>

struct rate {
	uint64_t budget; /* units per second, above 0 */
	uint64_t burst;	 /* ns that may be earned before use */
};

/* The burst in ns that lets `units` be used at once. */
uint64_t rate_burst(uint64_t budget, uint64_t units);

/* Pay for `units` used by `now` (CLOCK_MONOTONIC, ns); returns when they will have been earned. */
uint64_t rate_charge(uint64_t *earned, const struct rate *rate, uint64_t units, uint64_t now);

/*
 * Units of CPU time between two looks where the user did not say: at most 2 ms, and so little that
 * a single thread's pause is no longer than 20 ms, but 0.1 ms at least, below which the looks
 * themselves cost more than 10 %. `budget` in ns per second.
 */
uint64_t rate_cpu_period(uint64_t budget);

#endif
