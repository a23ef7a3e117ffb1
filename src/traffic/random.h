/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for drawing samples, and the reservoir that keeps one of many. */
#ifndef TRAFFIC_RANDOM_H
#define TRAFFIC_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* xorshift64* (Vigna 2016); the state is never 0. */
static inline uint64_t flow_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

/* A random number from 0 up to `bound` - 1; `bound` is not 0. */
static inline uint64_t flow_below(uint64_t *state, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)flow_random(state) * bound) >> 64);
}

/* A reservoir of `room` entries (Vitter 1985): is candidate number `seen` (from 1 on) to be
 * kept, and in whose place? Each of the `seen` candidates is then kept with the same
 * probability, room / seen. *victim is below `room`. */
static inline bool flow_reservoir(uint64_t *state, uint64_t room, uint64_t seen, uint64_t *victim)
{
	*victim = seen <= room ? seen - 1 : flow_below(state, seen);
	return *victim < room;
}

#endif
