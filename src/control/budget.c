/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all this costs, and keeping it within the budget.
 *
 * Spent: the controller's own CPU time; the CPU time that handlers measure of themselves; for each
 * hit the trap and signal around the handler, whose price is measured at the start;
 * for each sample a fixed price, since nobody can measure an interrupt from outside; and what
 * events cost threads that come and go (switches.c). Allowed: the budget's share of the CPU time
 * the program used, or of a fraction of one CPU where the program mostly sleeps. The difference is
 * kept as credit, with some to begin with, since the first finds come early; in debt nothing is
 * armed until time has paid for it. Reading symbols for a finding is measured and not counted: it
 * happens once a finding, while every slot is silent.
 *
 * The other half of the budget, any thread's latency, is kept where the holds are (src/agent).
 */
#include "control/private.h"

#include "control/price.h"
#include "control/switches.h"
#include "symbol/session.h"

#include <stdatomic.h>
#include <time.h>

#define IDLE_SHARE 4	  /* a sleeping program counts as using 1/4 of a CPU */
#define CREDIT_START 50.0 /* what the budget allows in so many seconds of CPU time */
#define AGGRESSIVE_START                                                        \
	2.0 /* so that a run of a few seconds takes no more than twice the time \
	     */
#define CREDIT_MAX 100.0
#define LOAN 20.0	/* and in so many, to begin with, for threads that come and go alone */
#define SLEEPY_PARTS 10 /* a program that uses less than this part of one CPU mostly waits */

/* CPU clock of another process: MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) in the kernel. */
clockid_t control_process_clock(pid_t pid)
{
	return (clockid_t)(~(unsigned)pid << 3 | 2);
}

static uint64_t advance(uint64_t *seen, uint64_t now)
{
	uint64_t more = now > *seen ? now - *seen : 0;

	*seen = now;
	return more;
}

void budget_begin(struct target *target)
{
	struct area_process *shared = target->shared;

	atomic_store(&shared->delivered, 0);
	atomic_store(&shared->handling, 0);
	atomic_store(&shared->held, 0);
	target->seen =
		(struct spending){.program = control_clock(control_process_clock(target->pid))};
}

void budget_collect(struct target *target)
{
	struct spending *sum = &target->control->spending, *seen = &target->seen;
	const struct area_process *shared = target->shared;
	uint64_t program = control_clock(control_process_clock(target->pid));

	/* A process that has ended has no clock. */
	if (program > seen->program)
		sum->program += advance(&seen->program, program);
	sum->hits += advance(&seen->hits, atomic_load(&shared->delivered));
	sum->handling += advance(&seen->handling, atomic_load(&shared->handling));
	sum->held += advance(&seen->held, atomic_load(&shared->held));
}

static void collect_all(struct control *control)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i])
			budget_collect(control->target[i]);
}

/* In the program's threads: part of the CPU time it used. */
static uint64_t spent_inside(const struct control *control)
{
	const struct spending *sum = &control->spending;

	return sum->handling + sum->hits * control->hit_price + sum->sampling + sum->switching;
}

static uint64_t spent_outside(const struct control *control)
{
	uint64_t own =
		control_clock(CLOCK_PROCESS_CPUTIME_ID) + symbol_session_time(control->session);

	return own > control->exempt ? own - control->exempt : 0;
}

static void show(struct control *control)
{
	const struct spending *sum = &control->spending;
	uint64_t *count = control->count;

	count[COUNT_TIME_PROGRAM] = sum->program / MILLISECOND;
	count[COUNT_TIME_CONTROLLER] = spent_outside(control) / MILLISECOND;
	count[COUNT_TIME_SYMBOLS] = control->exempt / MILLISECOND;
	count[COUNT_TIME_HANDLERS] = (sum->handling + sum->hits * control->hit_price) / MILLISECOND;
	count[COUNT_TIME_SWITCHING] = sum->switching / MILLISECOND;
	count[COUNT_SWITCH_PRICE] = control->switch_price;
	count[COUNT_TIMER_PRICE] = control->timer_price;
	count[COUNT_TIME_SAMPLES] = sum->sampling / MILLISECOND;
	count[COUNT_SAMPLE_PRICE] = control->sample_price;
	count[COUNT_TIME_HELD] = sum->held / MILLISECOND;
	count[COUNT_HIT_PRICE] = control->hit_price;
}

static int64_t credit_of(const struct control *control, double seconds)
{
	return (int64_t)(control->options.budget / 100 * seconds * SECOND);
}

void budget_start(struct control *control)
{
	control->hit_price = price_of_hit();
	switches_start(control);
	control->credit =
		credit_of(control, control->options.aggressive ? AGGRESSIVE_START : CREDIT_START);
	control->loan = control->options.aggressive ? 0 : (uint64_t)credit_of(control, LOAN);
	control->spent = spent_inside(control) + spent_outside(control);
	control->budget_time = control_now();
}

double control_cost(const struct control *control)
{
	uint64_t inside = spent_inside(control);
	uint64_t bare = control->spending.program > inside ? control->spending.program - inside : 0;

	return bare ? 100.0 * (double)(inside + spent_outside(control)) / (double)bare : 0;
}

static void pause_watching(struct control *control, uint64_t now)
{
	double rate = control->income / (double)SECOND, pause;

	count_one(control, COUNT_PAUSES);
	/* What handlers took the program tells, which may be anything. */
	pause = -(double)control->credit / (rate + 1e-4);
	control->paused_until = now + (pause < (double)SECOND ? (uint64_t)pause : SECOND);
}

/* Servers that sleep and wake all the time would be left after seconds otherwise, with nothing
 * seen; and while all is new, samples are worth more than they may cost. Returns what is lent. */
static uint64_t count_switching(struct control *control, uint64_t now)
{
	struct switches_cost cost = switches_spent(control);
	int64_t switching = (int64_t)cost.switching; /* negative: given back */
	uint64_t wanted = switching > 0 ? (uint64_t)switching : 0, lent;

	if (bursts_are_new(control, now))
		wanted += (uint64_t)cost.sampling;
	lent = wanted < control->loan ? wanted : control->loan;
	control->spending.switching += (uint64_t)switching;
	control->spending.sampling += (uint64_t)cost.sampling;
	control->loan -= lent;
	return lent;
}

void budget_check(struct control *control)
{
	uint64_t now = control_now(), before = control->spending.program, spent, lent, used, idle;
	int64_t most = credit_of(control, CREDIT_MAX);
	double share = control->options.budget / 100;

	collect_all(control);
	lent = count_switching(control, now);
	spent = spent_inside(control) + spent_outside(control);
	used = control->spending.program - before;
	idle = (now - control->budget_time) / IDLE_SHARE;
	control->sleepy = used * SLEEPY_PARTS < now - control->budget_time;
	if (used < idle)
		used = idle;
	control->credit +=
		(int64_t)((double)used * share) - (int64_t)(spent - control->spent - lent);
	control->income =
		(double)used * share * (double)SECOND / (double)(now - control->budget_time + 1);
	if (control->credit > most)
		control->credit = most;
	if (control->credit < 0)
		pause_watching(control, now);
	control->spent = spent;
	control->budget_time = now;
	show(control);
}

/* This thread's, and that of the process that reads program files for it. */
static uint64_t work_clock(const struct control *control)
{
	return control_clock(CLOCK_THREAD_CPUTIME_ID) + symbol_session_time(control->session);
}

uint64_t control_work_begin(const struct control *control)
{
	return work_clock(control);
}

void control_work_end(struct control *control, uint64_t begun)
{
	control->exempt += work_clock(control) - begun;
}
