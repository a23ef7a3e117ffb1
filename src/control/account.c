/* SPDX-License-Identifier: Apache-2.0 */
/* What the watched processes and the controller have used, gathered for src/cost to judge. */
#include "control/account.h"
#include "control/state.h"
#include "base/clock.h"

#include "base/syscall.h"
#include "target/census.h"
#include "reader/open.h"

#include <stdatomic.h>

/* Ours, and that of the process that reads program files for us. */
static uint64_t own_time(const struct control *control)
{
	return clock_read(CLOCK_PROCESS_CPUTIME_ID) + symbol_session_time(control->program.session);
}

void account_begin(struct control *control)
{
	const struct control_options *options = &control->program.options;
	const struct budget_terms terms = {.percent = options->budget,
					   .loan = options->loan,
					   .aggressive = options->aggressive};

	prices_start(&control->budget.prices, windows_period(options),
		     options->lasting || options->limits_only);
	budget_start(&control->budget, &terms, own_time(control), clock_now());
	pace_begin(&control->pace, options->lasting	 ? 0
				   : options->aggressive ? 100
							 : options->budget);
}

/* Are slots and clocks open in a process before anything is known of its threads? */
static bool opens_slots(const struct control_options *options)
{
	return !options->lasting && !options->limits_only;
}

void account_open(struct target *target)
{
	struct area_process *shared = target->shared;

	atomic_store(&shared->delivered, 0);
	atomic_store(&shared->handling, 0);
	atomic_store(&shared->held, 0);
	atomic_store(&shared->births, 0);
	target->seen = (struct spending){.program = clock_read(clock_of_process(target->pid))};
	target->wakeups.open = opens_slots(&target->program->options);
}

void account_collect(struct target *target)
{
	const struct area_process *shared = target->shared;
	struct spending used = {.program = clock_read(clock_of_process(target->pid)),
				.hits = atomic_load(&shared->delivered),
				.handling = atomic_load(&shared->handling),
				.held = atomic_load(&shared->held),
				.births = atomic_load(&shared->births),
				.processes = 1};

	budget_add(&target->control->budget, &target->seen, &used);
}

static void show(struct control *control)
{
	const struct budget *budget = &control->budget;
	const struct spending *sum = &budget->sum;
	const struct prices *prices = &budget->prices;
	uint64_t *count = control->program.count;

	count[COUNT_TIME_PROGRAM] = sum->program / MILLISECOND;
	count[COUNT_TIME_CONTROLLER] = budget_outside(budget, own_time(control)) / MILLISECOND;
	count[COUNT_TIME_SYMBOLS] = budget->exempt / MILLISECOND;
	count[COUNT_TIME_HANDLERS] = (sum->handling + sum->hits * prices->hit) / MILLISECOND;
	count[COUNT_TIME_SWITCHING] = sum->wakeups / MILLISECOND;
	count[COUNT_TIME_SAMPLES] = sum->samples / MILLISECOND;
	count[COUNT_TIME_IDLE] = sum->idle / MILLISECOND;
	count[COUNT_TIME_INTERRUPTS] = control->program.interrupting / MILLISECOND;
	count[COUNT_TIME_BIRTHS] = budget_births(budget) / MILLISECOND;
	count[COUNT_TIME_HELD] = sum->held / MILLISECOND;
	count[COUNT_HIT_PRICE] = prices->hit;
	count[COUNT_SWITCH_PRICE] = prices->wakeup;
	count[COUNT_TIMER_PRICE] = prices->timer;
	count[COUNT_SAMPLE_PRICE] = prices->sample;
	count[COUNT_THREADS_SEEN] = control->looked.threads.members;
	count[COUNT_CODE_RAN] = control->looked.ran.members;
	count[COUNT_CODE_REACHED] = control->looked.reached.members;
	count[COUNT_TIME_WATCHING] = (clock_now() - control->program.started) / MILLISECOND;
}

static struct wakeups_cost charge_wakeups(struct control *control)
{
	const struct control_options *options = &control->program.options;
	struct wakeups_cost sum = {0};
	uint64_t now = clock_now(), sampled = windows_take_time(&control->windows);

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = control->program.target[i];
		struct wakeups_cost cost;

		if (!target || target->observed)
			continue;
		census_take(target, now);
		cost = wakeups_charge(&target->wakeups, &control->budget.prices, now, sampled);
		sum.wakeups += cost.wakeups;
		sum.samples += cost.samples;
		sum.idle += cost.idle;
		/* What was counted just now was switched as things stood before. */
		target->wakeups.open = !target->transient.on && opens_slots(options);
	}
	return sum;
}

static void settle(struct control *control, uint64_t now)
{
	struct budget_estimate estimate = {.lend_samples = windows_are_new(&control->program, now)};
	struct wakeups_cost cost;

	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->program.target[i])
			account_collect(control->program.target[i]);
	cost = charge_wakeups(control);
	estimate.wakeups = (int64_t)cost.wakeups;
	estimate.samples = (uint64_t)cost.samples;
	estimate.idle = (uint64_t)cost.idle;
	estimate.interrupts = control->program.interrupting;
	if (budget_settle(&control->budget, &estimate, own_time(control), now))
		count_one(&control->program, COUNT_PAUSES);
	show(control);
}

void account_close(struct control *control)
{
	settle(control, clock_now());
}

void account_settle(struct control *control)
{
	uint64_t now = clock_now();

	settle(control, now);
	if (!control->program.options.lasting && !control->program.options.limits_only)
		prices_run(&control->budget.prices, now - control->program.started);
}

double control_cost(const struct control *control)
{
	return budget_cost(&control->budget, own_time(control));
}

unsigned control_spent(const struct control *control)
{
	return budget_spent(&control->budget, clock_now());
}

/* This thread's, and that of the process that reads program files for it. */
static uint64_t work_clock(const struct control *control)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID) + symbol_session_time(control->program.session);
}

uint64_t control_work_begin(const struct control *control)
{
	return work_clock(control);
}

void control_work_end(struct control *control, uint64_t begun)
{
	control->budget.exempt += work_clock(control) - begun;
}

/* Hits that the kernel has counted: a program may write records, but not those counts. Those of
 * regions are counted by nobody else: where there are any, records are believed. */
static uint64_t real_hits(const struct control *control)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = control->program.target[i];

		for (unsigned j = 0; target && j < AREA_WATCHES; j++) {
			const struct slot *slot = &target->slot[j];

			if (slot->open && j < AREA_SLOTS)
				sum += coverage_count(&slot->coverage) + slot->ended_hits;
			else if (slot->armed && j >= AREA_SLOTS)
				return control->program.count[COUNT_HITS];
		}
	}
	return sum;
}

void account_pause(struct control *control)
{
	struct pace *pace = &control->pace;

	if (!pace_is_over(pace, clock_now(), clock_read(CLOCK_THREAD_CPUTIME_ID)))
		return;
	if (control->program.options.lasting)
		pace_allow_hits(pace, real_hits(control));
	if (!bucket_is_empty(&pace->bucket))
		return;
	count_one(&control->program, COUNT_PUT_OFF);
	if (!control->program.options.lasting)
		atomic_store(&control->program.area->unanswered, 1);
	/* A signal may end it early: the program's end must not be waited for. */
	raw_nanosleep(pace_pause(pace) + MILLISECOND);
	atomic_store(&control->program.area->unanswered, 0);
}
