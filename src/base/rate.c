/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rate.h"

#include <stdbool.h>

#define SECOND 1000000000ull
#define LONGEST_COST (365 * 24 * 3600 * SECOND) /* keeps sums of times within 64 bits */
#define PAUSE_AIM 20000000ull
#define PERIOD_MIN 100000ull
#define PERIOD_MAX 2000000ull

/* units * SECOND / budget without 128-bit division, which is a library call. */
static uint64_t time_for(uint64_t units, uint64_t budget)
{
	uint64_t seconds, rest;

	if (!budget)
		return LONGEST_COST;
	seconds = units / budget;
	rest = units % budget;
	if (seconds >= LONGEST_COST / SECOND)
		return LONGEST_COST;
	/* A budget so large keeps 34 bits, more than the clock's resolution needs. */
	while (budget > UINT64_MAX / SECOND) {
		budget >>= 1;
		rest >>= 1;
	}
	return seconds * SECOND + rest * SECOND / budget;
}

uint64_t rate_burst(uint64_t budget, uint64_t units)
{
	return time_for(units, budget);
}

/* ns until `units` are earned. `rate` may be changed meanwhile. */
static uint64_t rate_cost(const struct rate *rate, uint64_t units)
{
	return time_for(units, __atomic_load_n(&rate->budget, __ATOMIC_RELAXED));
}

uint64_t rate_charge(uint64_t *earned, const struct rate *rate, uint64_t units, uint64_t now)
{
	uint64_t burst = __atomic_load_n(&rate->burst, __ATOMIC_RELAXED);
	uint64_t oldest = now > burst ? now - burst : 0;
	uint64_t cost = rate_cost(rate, units);
	uint64_t before = __atomic_load_n(earned, __ATOMIC_RELAXED), next;

	do {
		next = (before > oldest ? before : oldest) + cost;
	} while (!__atomic_compare_exchange_n(earned, &before, next, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return next;
}

uint64_t rate_cpu_period(uint64_t budget)
{
	uint64_t period;

	if (budget >= SECOND / 10)
		return PERIOD_MAX;
	/* A pause lasts period / share - period. */
	period = PAUSE_AIM * budget / (SECOND - budget);
	if (period < PERIOD_MIN)
		return PERIOD_MIN;
	return period < PERIOD_MAX ? period : PERIOD_MAX;
}
