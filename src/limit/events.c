/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/events.h"

#include "base/clock.h"
#include "inject/stacks.h"
#include "limit/limit.h"
#include "target/cover.h"

#include <stdatomic.h>
#include <unistd.h>

void limits_init(struct limits *limits, struct program *program)
{
	limits->program = program;
	limits->total = -1;
}

void limits_end(struct limits *limits)
{
	if (limits->total >= 0)
		close(limits->total);
	limits->total = -1;
}

static void open_event(struct target *target, uint32_t index)
{
	struct target_limit *limit = &target->limit[index];
	struct area_limit *shared = &target->program->area->limit[index];
	uint64_t data = area_tag(target->index, AREA_SLOT_LIMIT + index, 0);
	struct coverage_target coverage = cover_threads(target);
	struct perf_request request;

	limit->cover_version = cover_version(target);
	limit->heard = 0;
	limit->period = __atomic_load_n(&shared->period, __ATOMIC_RELAXED);
	/* In user mode alone: a look due while execve(2) runs would come as a SIGTRAP to the new
	 * image, which has no handler yet. CPU time spent in the kernel is charged all the same. */
	request = (struct perf_request){.counter = shared->counter,
					.period = limit->period ? limit->period : 1,
					.signal = true};
	limit->open = !cover_open(target, &limit->coverage, &coverage, &request, data);
	if (!limit->open)
		count_one(target->program, COUNT_LIMITS_FAILED);
}

static void close_event(struct target_limit *limit)
{
	if (limit->open)
		coverage_close(&limit->coverage);
	limit->open = false;
}

/* CPU time that the process used before the limit was set is not charged. */
static void begin_clock(struct target *target, uint32_t index)
{
	uint64_t time = clock_read(clock_of_process(target->pid));

	if (time)
		__atomic_store_n(&target->shared->limit_clock[index], time, __ATOMIC_RELAXED);
}

void limits_open(struct target *target)
{
	struct area *area = target->program->area;

	for (uint32_t i = limit_next(area, 0); i < AREA_LIMITS; i = limit_next(area, i + 1))
		open_event(target, i);
}

void limits_close(struct target *target)
{
	for (uint32_t i = 0; i < AREA_LIMITS; i++)
		close_event(&target->limit[i]);
}

static bool is_on(const struct area *area, uint32_t index)
{
	return atomic_load(&area->limit[index].state) == AREA_LIMIT_ON;
}

static void follow(struct target *target, uint32_t index)
{
	struct target_limit *limit = &target->limit[index];
	struct area_limit *shared = &target->program->area->limit[index];
	bool on = is_on(target->program->area, index);

	if (limit->open && (!on || limit->period != shared->period)) {
		close_event(limit);
		if (on)
			open_event(target, index);
	} else if (on && !limit->open) {
		begin_clock(target, index);
		open_event(target, index);
	}
}

void limits_suit_cover(struct limits *limits)
{
	for (unsigned i = 0; i < AREA_PROCESSES * AREA_LIMITS; i++) {
		struct target *target = limits->program->target[i / AREA_LIMITS];
		struct target_limit *limit = target ? &target->limit[i % AREA_LIMITS] : NULL;

		if (!limit || limit->cover_version == cover_version(target) ||
		    !is_on(limits->program->area, i % AREA_LIMITS))
			continue;
		close_event(limit);
		limit->compared = false;
		open_event(target, i % AREA_LIMITS);
	}
}

void limits_follow(struct limits *limits)
{
	uint32_t changed = atomic_load(&limits->program->area->limits_changed);

	if (changed == limits->changed)
		return;
	limits->changed = changed;
	unpaid_begin(limits);
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		for (uint32_t j = 0; limits->program->target[i] && j < AREA_LIMITS; j++)
			follow(limits->program->target[i], j);
}

/* Each thread's counter may be short of its next signal by a period. What it counts while the
 * kernel works for the thread sends none: the sum is a reason to ask, and proves nothing. */
static uint64_t sent(struct target_limit *limit, bool heard, size_t threads)
{
	uint64_t count = coverage_count(&limit->coverage), periods;

	if (heard || count < limit->heard)
		limit->heard = count;
	periods = limit->period ? (count - limit->heard) / limit->period : 0;
	return periods > threads ? periods - threads : 0;
}

uint64_t limits_sent(struct target *target, bool heard, size_t *read)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < AREA_LIMITS; i++) {
		struct target_limit *limit = &target->limit[i];

		if (!limit->open)
			continue;
		found += sent(limit, heard, limit->coverage.count);
		*read += limit->coverage.count;
	}
	return found;
}
