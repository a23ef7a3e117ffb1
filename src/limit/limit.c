/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/limit.h"

#include "base/syscall.h"
#include "base/clock.h"
#include "event/perf.h"

#include <trapline/event.h>

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>

#define DEFAULT_BURST (50 * MILLISECOND)
#define LOOKS_PER_SECOND 1000 /* at most, by a counter that is not a clock */

int limit_possible(unsigned counter)
{
	struct perf_request request = {
		.counter = counter, .period = SECOND, .signal = true, .disabled = true};
	int fd;

	/* A pause is a switch of threads itself, and its end may be a migration. */
	if (counter == TL_CONTEXT_SWITCHES || counter == TL_MIGRATIONS)
		return -EINVAL;
	fd = perf_open(&request, 0);
	if (fd < 0)
		return fd;
	raw_close(fd);
	return 0;
}

static uint64_t period_of(const struct limit *limit)
{
	uint64_t period = limit->budget / LOOKS_PER_SECOND;

	if (limit->period != LIMIT_DEFAULT)
		return limit->period;
	if (limit->counter == TL_CPU_TIME)
		return rate_cpu_period(limit->budget);
	return period ? period : 1;
}

/* Writes what the program's threads read: budget, burst and how much lies between two looks. */
static void set_rate(struct area_limit *shared, const struct limit *limit)
{
	uint64_t burst = limit->burst == LIMIT_DEFAULT ? DEFAULT_BURST
						       : rate_burst(limit->budget, limit->burst);

	__atomic_store_n(&shared->rate.burst, burst, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->rate.budget, limit->budget, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->period, period_of(limit), __ATOMIC_RELAXED);
}

/* Makes both pausing threads and the controller look again. */
static void announce(struct area *area, struct area_limit *shared)
{
	atomic_fetch_add(&shared->changed, 1);
	raw_futex((uint32_t *)&shared->changed, FUTEX_WAKE, INT_MAX, NULL);
	atomic_fetch_add(&area->limits_changed, 1);
	area_ring(area);
}

static struct area_limit *claim(struct area *area, uint32_t *index)
{
	for (uint32_t i = 0; i < AREA_LIMITS; i++) {
		uint32_t free_state = AREA_LIMIT_FREE;

		if (atomic_compare_exchange_strong(&area->limit[i].state, &free_state,
						   AREA_LIMIT_TAKEN)) {
			*index = i;
			return &area->limit[i];
		}
	}
	return NULL;
}

int limit_add(struct area *area, const struct limit *limit)
{
	struct area_limit *shared;
	uint32_t index;

	if (limit->threads && strlen(limit->threads) >= AREA_PATTERN)
		return -ENAMETOOLONG;
	shared = claim(area, &index);
	if (!shared)
		return -ENOSPC;
	shared->counter = limit->counter;
	shared->each = limit->each;
	shared->earned = clock_now();
	strcpy(shared->threads, limit->threads ? limit->threads : "");
	set_rate(shared, limit);
	atomic_store_explicit(&shared->state, AREA_LIMIT_ON, memory_order_release);
	announce(area, shared);
	return (int)index;
}

void limit_change(struct area *area, uint32_t index, const struct limit *limit)
{
	struct area_limit *shared = &area->limit[index];
	uint64_t now = clock_now();

	set_rate(shared, limit);
	__atomic_store_n(&shared->earned, now, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < AREA_PROCESSES; i++)
		__atomic_store_n(&area->process[i].limit_earned[index], now, __ATOMIC_RELAXED);
	announce(area, shared);
}

void limit_stop(struct area *area, uint32_t index)
{
	atomic_store(&area->limit[index].state, AREA_LIMIT_OFF);
	announce(area, &area->limit[index]);
}

uint32_t limit_next(const struct area *area, uint32_t index)
{
	while (index < AREA_LIMITS && atomic_load(&area->limit[index].state) != AREA_LIMIT_ON)
		index++;
	return index;
}
