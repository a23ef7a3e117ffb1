/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers what the watched processes and the controller have used, for src/cost to judge. */
#include "account/account.h"
#include "base/clock.h"

#include "base/syscall.h"
#include "target/census.h"
#include "reader/open.h"

#include <stdatomic.h>

/* CPU time of the controller and of the process that reads program files for it, ns. */
static uint64_t own_time(const struct program *program)
{
	return clock_read(CLOCK_PROCESS_CPUTIME_ID) + symbol_session_time(program->session);
}

void account_begin(struct account *account)
{
	const struct control_options *options = &account->program->options;
	const struct budget_terms terms = {.percent = options->budget,
					   .loan = options->loan,
					   .aggressive = options->aggressive};

	prices_start(&account->budget->prices, windows_period(options),
		     !account->program->ways.budgeted);
	budget_start(account->budget, &terms, own_time(account->program), clock_now());
	pace_begin(&account->pace, account->program->ways.every_hit ? 0
				   : options->aggressive	    ? 100
								    : options->budget);
}

void account_open(struct target *target)
{
	struct area_process *shared = target->shared;

	atomic_store(&shared->delivered, 0);
	atomic_store(&shared->handling, 0);
	atomic_store(&shared->held, 0);
	atomic_store(&shared->queued, 0);
	atomic_store(&shared->longest, 0);
	atomic_store(&shared->births, 0);
	target->seen = (struct spending){.program = clock_read(clock_of_process(target->pid))};
	/* Slots and clocks are opened before anything is known of the process's threads. */
	target->wakeups.open = target->program->ways.budgeted;
}

static void at_least(uint64_t *count, uint64_t value)
{
	if (*count < value)
		*count = value;
}

/* Of any thread of any process. */
static void count_most(const struct target *target)
{
	const struct area_process *shared = target->shared;
	uint64_t *count = target->program->count, most = 0;

	for (unsigned i = 0; i < AREA_CREDITS; i++) {
		uint64_t held = atomic_load_explicit(&shared->credit[i].held, memory_order_relaxed);

		most = held > most ? held : most;
	}
	at_least(&count[COUNT_TIME_HELD_MOST], most / MILLISECOND);
	at_least(&count[COUNT_TIME_HELD_LONGEST], atomic_load(&shared->longest) / 1000);
}

void account_collect(struct target *target)
{
	const struct area_process *shared = target->shared;
	struct spending used = {.program = clock_read(clock_of_process(target->pid)),
				.hits = atomic_load(&shared->delivered),
				.handling = atomic_load(&shared->handling),
				.held = atomic_load(&shared->held),
				.queued = atomic_load(&shared->queued),
				.births = atomic_load(&shared->births),
				.processes = 1};

	budget_add(target->program->account->budget, &target->seen, &used);
	count_most(target);
}

static void show(struct account *account)
{
	const struct budget *budget = account->budget;
	const struct spending *sum = &budget->sum;
	const struct prices *prices = &budget->prices;
	uint64_t *count = account->program->count;

	count[COUNT_TIME_PROGRAM] = sum->program / MILLISECOND;
	count[COUNT_TIME_CONTROLLER] =
		budget_outside(budget, own_time(account->program)) / MILLISECOND;
	count[COUNT_TIME_SYMBOLS] = budget->exempt / MILLISECOND;
	count[COUNT_TIME_HANDLERS] = (sum->handling + sum->hits * prices->hit) / MILLISECOND;
	count[COUNT_TIME_SWITCHING] = sum->wakeups / MILLISECOND;
	count[COUNT_TIME_SAMPLES] = sum->samples / MILLISECOND;
	count[COUNT_TIME_IDLE] = sum->idle / MILLISECOND;
	count[COUNT_TIME_INTERRUPTS] = account->program->interrupting / MILLISECOND;
	count[COUNT_TIME_BIRTHS] = budget_births(budget) / MILLISECOND;
	count[COUNT_TIME_HELD] = sum->held / MILLISECOND;
	count[COUNT_TIME_QUEUED] = sum->queued / MILLISECOND;
	count[COUNT_HIT_PRICE] = prices->hit;
	count[COUNT_SWITCH_PRICE] = prices->wakeup;
	count[COUNT_TIMER_PRICE] = prices->timer;
	count[COUNT_SAMPLE_PRICE] = prices->sample;
	count[COUNT_TIME_WATCHING] = (clock_now() - account->program->started) / MILLISECOND;
}

static struct wakeups_cost charge_wakeups(struct account *account)
{
	struct wakeups_cost sum = {0};
	uint64_t now = clock_now(), sampled = windows_take_time(account->windows);

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = account->program->target[i];
		struct wakeups_cost cost;

		if (!target || target->observed)
			continue;
		census_take(target, now);
		cost = wakeups_charge(&target->wakeups, &account->budget->prices, now, sampled);
		sum.wakeups += cost.wakeups;
		sum.samples += cost.samples;
		sum.idle += cost.idle;
		/* The wake-ups counted just now happened while things stood as before; the new
		 * state counts from here. */
		target->wakeups.open = !target->transient.on && account->program->ways.budgeted;
	}
	return sum;
}

static void settle(struct account *account, uint64_t now)
{
	struct budget_estimate estimate = {.lend_samples = windows_are_new(account->program, now)};
	struct wakeups_cost cost;

	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (account->program->target[i])
			account_collect(account->program->target[i]);
	cost = charge_wakeups(account);
	estimate.wakeups = (int64_t)cost.wakeups;
	estimate.samples = (uint64_t)cost.samples;
	estimate.idle = (uint64_t)cost.idle;
	estimate.interrupts = account->program->interrupting;
	if (budget_settle(account->budget, &estimate, own_time(account->program), now))
		count_one(account->program, COUNT_PAUSES);
	show(account);
}

void account_close(struct account *account)
{
	settle(account, clock_now());
}

void account_settle(struct account *account)
{
	uint64_t now = clock_now();

	settle(account, now);
	if (account->program->ways.budgeted)
		prices_run(&account->budget->prices, now - account->program->started);
}

double account_cost(const struct program *program)
{
	return budget_cost(program->account->budget, own_time(program));
}

unsigned account_spent(const struct program *program)
{
	return budget_spent(program->account->budget, clock_now());
}

/* CPU time of this thread and of the process that reads program files for it, ns. */
static uint64_t work_clock(const struct program *program)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID) + symbol_session_time(program->session);
}

uint64_t account_work_begin(const struct program *program)
{
	return work_clock(program);
}

void account_work_end(struct program *program, uint64_t begun)
{
	program->account->budget->exempt += work_clock(program) - begun;
}

/* The number of hits, by the kernel's count: a program may write records, but not those counts.
 * Hits of regions are counted by no kernel; where there are regions, records are believed. */
static uint64_t real_hits(const struct program *program)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = program->target[i];

		for (unsigned j = 0; target && j < AREA_WATCHES; j++) {
			const struct slot *slot = &target->slot[j];

			if (slot->open && j < AREA_SLOTS)
				sum += coverage_count(&slot->coverage) + slot->ended_hits;
			else if (slot->armed && j >= AREA_SLOTS)
				return program->count[COUNT_HITS];
		}
	}
	return sum;
}

void account_pause(struct account *account)
{
	struct pace *pace = &account->pace;

	if (!pace_is_over(pace, clock_now(), clock_read(CLOCK_THREAD_CPUTIME_ID)))
		return;
	if (account->program->ways.every_hit)
		pace_allow_hits(pace, real_hits(account->program));
	if (!bucket_is_empty(&pace->bucket))
		return;
	count_one(account->program, COUNT_PUT_OFF);
	if (!account->program->ways.every_hit)
		atomic_store(&account->program->area->unanswered, 1);
	/* A signal may end this sleep early, so that the end of the program need not be waited
	 * for. */
	raw_nanosleep(pace_pause(pace) + MILLISECOND);
	atomic_store(&account->program->area->unanswered, 0);
}
