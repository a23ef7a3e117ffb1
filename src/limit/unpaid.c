/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time that no thread paid for: of a process that waits in the kernel most of its time, of the
 * end of a process, of programs that load no library, of children of raw clone(2). The controller
 * charges it now and then, and the thread that looks next pauses for it.
 *
 * Living processes are charged by their clocks. For the rest there are two sums; each misses
 * something, so the larger one counts:
 *
 * - The clocks of the processes we know, and what those were told of children that they waited for.
 * Exact, except for children not yet waited for, and processes that we do not know.
 *
 * - One more counter, without signals, that all descendants of the program inherit. It misses the
 * last moments of each process, in which it gives back its memory (0.1 ms on Linux 6.18). And it
 * runs fast on a busy machine, up to 7 % before the clocks, where a virtual machine's CPU is taken
 * away. How fast is seen in processes that have both; twice as much is taken off, since what was
 * once charged stays charged, and short-lived processes may drift more than others.
 *
 * The sums are read first: CPU time that is charged meanwhile makes the difference too small, never
 * too large, and the next time finds the rest. Accepted: a child found between fork() and its
 * announcement pays for its first moments twice.
 */
#include "limit/events.h"

#include "base/clock.h"
#include "limit/limit.h"

#include <stdatomic.h>
#include <time.h>

#define DRIFT_LEAST (10 * MILLISECOND) /* of both, before they are compared */

/* Reads the CPU time of a process, ns. False: it has ended. */
static bool time_of(pid_t pid, uint64_t *time)
{
	*time = clock_read(clock_of_process(pid));
	return *time;
}

/* ------------------------------------------------------------------------------------------- */
/* The two sums */

void unpaid_launch(struct limits *limits, pid_t pid)
{
	struct perf_request request = {.counter = TL_CPU_TIME, .inherit = true};

	if (limit_next(limits->program->area, 0) < AREA_LIMITS)
		limits->total = perf_open(&request, pid);
}

static bool has_targets(const struct limits *limits)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (limits->program->target[i])
			return true;
	return false;
}

void unpaid_begin(struct limits *limits)
{
	for (uint32_t i = 0; i < AREA_LIMITS; i++) {
		bool on = atomic_load(&limits->program->area->limit[i].state) == AREA_LIMIT_ON;

		if (on && !limits->known[i] && limits->total >= 0) {
			limits->total_before[i] = perf_count(limits->total);
			limits->from_start[i] = !has_targets(limits);
		}
		limits->known[i] = on;
	}
}

/* Is it an entry of a process that has another, as one has for a moment that executes a program? */
static bool is_second_entry(struct limits *limits, const struct target *target)
{
	return target_find(limits->program, target->pid) != target;
}

static uint64_t time_of_known(struct limits *limits)
{
	uint64_t sum = 0, time;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = limits->program->target[i];

		if (!target || is_second_entry(limits, target))
			continue;
		sum += __atomic_load_n(&target->shared->children_time, __ATOMIC_RELAXED);
		sum += time_of(target->pid, &time) ? time : 0;
	}
	return sum;
}

/* Since the last time, by the counters of this process and by its clock. */
static void compare_clocks(struct limits *limits, const struct target *target,
			   struct target_limit *limit)
{
	uint64_t counted = coverage_count(&limit->coverage), clocked;

	/* A thread covered twice counts twice. */
	if (limit->coverage.ambiguous || !time_of(target->pid, &clocked))
		return;
	if (limit->compared && counted >= limit->counted && clocked >= limit->clocked) {
		limits->counted += counted - limit->counted;
		limits->clocked += clocked - limit->clocked;
	}
	limit->compared = true;
	limit->counted = counted;
	limit->clocked = clocked;
}

static uint64_t without_drift(const struct limits *limits, uint64_t total)
{
	double drift;

	if (limits->clocked < DRIFT_LEAST || limits->counted <= limits->clocked)
		return total;
	drift = (double)(limits->counted - limits->clocked) / (double)limits->counted;
	return drift < 0.5 ? (uint64_t)((double)total * (1 - 2 * drift)) : 0;
}

static uint64_t total_since(struct limits *limits, uint32_t index)
{
	uint64_t total = perf_count(limits->total) - limits->total_before[index];
	uint64_t known = limits->from_start[index] ? time_of_known(limits) : 0;

	total = without_drift(limits, total);
	return known > total ? known : total;
}

/* ------------------------------------------------------------------------------------------- */
/* Charging */

static void charge_limit(struct area_limit *limit, uint64_t used)
{
	atomic_fetch_add(&limit->used, used);
	rate_charge(&limit->earned, &limit->rate, used, clock_now());
}

/* As the process itself would (src/allowance/throttle.c); whoever moves the clock on pays. */
static void charge_process(const struct target *target, uint32_t index, struct area_limit *limit)
{
	uint64_t *clock = &target->shared->limit_clock[index];
	uint64_t charged = __atomic_load_n(clock, __ATOMIC_RELAXED), time;

	if (time_of(target->pid, &time) && time > charged &&
	    __atomic_compare_exchange_n(clock, &charged, time, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		charge_limit(limit, time - charged);
}

static void charge_rest(struct limits *limits, uint32_t index)
{
	struct area_limit *limit = &limits->program->area->limit[index];
	uint64_t total = total_since(limits, index), used;

	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (limits->program->target[i])
			charge_process(limits->program->target[i], index, limit);
	used = atomic_load(&limit->used);
	if (total <= used)
		return;
	charge_limit(limit, total - used);
	limits->program->count[COUNT_TIME_UNPAID] += total - used;
}

static bool is_charged_whole(const struct area_limit *limit)
{
	return limit->counter == TL_CPU_TIME && limit->each == AREA_EACH_TREE && !limit->threads[0];
}

void unpaid_charge(struct limits *limits)
{
	struct area *area = limits->program->area;

	if (limits->total < 0)
		return;
	for (uint32_t i = limit_next(area, 0); i < AREA_LIMITS; i = limit_next(area, i + 1)) {
		if (!is_charged_whole(&area->limit[i]))
			continue;
		for (unsigned j = 0; j < AREA_PROCESSES; j++)
			if (limits->program->target[j] && limits->program->target[j]->limit[i].open)
				compare_clocks(limits, limits->program->target[j],
					       &limits->program->target[j]->limit[i]);
		charge_rest(limits, i);
	}
}
