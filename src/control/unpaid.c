/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nobody paid for: a process that waits in the kernel most of its time, the end of a process,
 * programs that load no library, children of raw clone(2). The controller charges it now and then,
 * and whoever looks next pauses for it.
 *
 * Living processes are charged by their clocks. For the rest there are two sums; each misses
 * something, so the larger one counts:
 *
 * - The clocks of the processes we know, and what those were told of children that they waited for.
 *   Exact, but for children not yet waited for, and processes we do not know.
 * - One more counter, without signals, that all descendants of the program inherit. It misses the
 *   last moments of each process, in which it gives back its memory (0.1 ms on Linux 6.18). And it
 *   runs fast on a busy machine: up to 7 % before the clocks, where a virtual machine's processor
 *   is taken away. How fast is seen in processes that have both; twice as much is taken off, since
 *   what was once charged stays charged, and short-lived processes may drift more than others.
 *
 * The sums are read first: use that is charged meanwhile makes the difference too small, never too
 * large, and the next time finds the rest. Accepted: a child found between fork() and its
 * announcement pays for its first moments twice.
 */
#include "control/limit.h"
#include "control/private.h"

#include <stdatomic.h>
#include <time.h>

#define DRIFT_LEAST (10 * MILLISECOND) /* of both, before they are compared */

bool control_process_time(pid_t pid, uint64_t *time)
{
	*time = control_clock(control_process_clock(pid));
	return *time;
}

/* ------------------------------------------------------------------------------------------- */
/* The two sums */

void unpaid_launch(struct control *control, pid_t pid)
{
	struct perf_request request = {.counter = TL_CPU_TIME, .inherit = true};

	if (limit_next(control->area, 0) < AREA_LIMITS)
		control->total = perf_open(&request, pid);
}

static bool has_targets(const struct control *control)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i])
			return true;
	return false;
}

void unpaid_begin(struct control *control)
{
	for (uint32_t i = 0; i < AREA_LIMITS; i++) {
		bool on = atomic_load(&control->area->limit[i].state) == AREA_LIMIT_ON;

		if (on && !control->limit_known[i] && control->total >= 0) {
			control->total_before[i] = perf_count(control->total);
			control->limit_from_start[i] = !has_targets(control);
		}
		control->limit_known[i] = on;
	}
}

/* A process that executes another program may have two entries for a moment. */
static bool is_second_entry(struct control *control, const struct target *target)
{
	return target_find(control, target->pid) != target;
}

static uint64_t time_of_known(struct control *control)
{
	uint64_t sum = 0, time;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = control->target[i];

		if (!target || is_second_entry(control, target))
			continue;
		sum += __atomic_load_n(&target->shared->children_time, __ATOMIC_RELAXED);
		sum += control_process_time(target->pid, &time) ? time : 0;
	}
	return sum;
}

/* Since the last time, by the counters of this process and by its clock. */
static void compare_clocks(struct control *control, const struct target *target,
			   struct target_limit *limit)
{
	uint64_t counted = coverage_count(&limit->coverage), clocked;

	/* A thread covered twice counts twice. */
	if (limit->coverage.ambiguous || !control_process_time(target->pid, &clocked))
		return;
	if (limit->compared && counted >= limit->counted && clocked >= limit->clocked) {
		control->counted += counted - limit->counted;
		control->clocked += clocked - limit->clocked;
	}
	limit->compared = true;
	limit->counted = counted;
	limit->clocked = clocked;
}

static uint64_t without_drift(const struct control *control, uint64_t total)
{
	double drift;

	if (control->clocked < DRIFT_LEAST || control->counted <= control->clocked)
		return total;
	drift = (double)(control->counted - control->clocked) / (double)control->counted;
	return drift < 0.5 ? (uint64_t)((double)total * (1 - 2 * drift)) : 0;
}

static uint64_t total_since(struct control *control, uint32_t index)
{
	uint64_t total = perf_count(control->total) - control->total_before[index];
	uint64_t known = control->limit_from_start[index] ? time_of_known(control) : 0;

	total = without_drift(control, total);
	return known > total ? known : total;
}

/* ------------------------------------------------------------------------------------------- */
/* Charging */

static void charge_limit(struct area_limit *limit, uint64_t used)
{
	atomic_fetch_add(&limit->used, used);
	rate_charge(&limit->earned, &limit->rate, used, control_now());
}

/* As the process itself would (src/agent/throttle.c); whoever moves the clock on pays. */
static void charge_process(const struct target *target, uint32_t index, struct area_limit *limit)
{
	uint64_t *clock = &target->shared->limit_clock[index];
	uint64_t charged = __atomic_load_n(clock, __ATOMIC_RELAXED), time;

	if (control_process_time(target->pid, &time) && time > charged &&
	    __atomic_compare_exchange_n(clock, &charged, time, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		charge_limit(limit, time - charged);
}

static void charge_rest(struct control *control, uint32_t index)
{
	struct area_limit *limit = &control->area->limit[index];
	uint64_t total = total_since(control, index), used;

	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i])
			charge_process(control->target[i], index, limit);
	used = atomic_load(&limit->used);
	if (total <= used)
		return;
	charge_limit(limit, total - used);
	control->count[COUNT_TIME_UNPAID] += total - used;
}

static bool is_charged_whole(const struct area_limit *limit)
{
	return limit->counter == TL_CPU_TIME && limit->each == AREA_EACH_TREE && !limit->threads[0];
}

void unpaid_charge(struct control *control)
{
	struct area *area = control->area;

	if (control->total < 0)
		return;
	for (uint32_t i = limit_next(area, 0); i < AREA_LIMITS; i = limit_next(area, i + 1)) {
		if (!is_charged_whole(&area->limit[i]))
			continue;
		for (unsigned j = 0; j < AREA_PROCESSES; j++)
			if (control->target[j] && control->target[j]->limit[i].open)
				compare_clocks(control, control->target[j],
					       &control->target[j]->limit[i]);
		charge_rest(control, i);
	}
}
