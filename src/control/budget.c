/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all this costs, and keeping it within the budget.
 *
 * Spent: the controller's own CPU time, and what hits and samples take of the program's (fixed
 * prices, of the dear side: a trap and a signal, in a virtual machine). Allowed: the budget's share
 * of the CPU time the program used, or of a fraction of one CPU where the program mostly sleeps.
 * The difference is kept as credit, with some to begin with, since the first finds come early; in
 * debt nothing is armed until time has paid for it. Reading symbols for a finding is not counted:
 * it happens once a finding, while every slot is silent.
 *
 * The other half of the budget, any thread's latency, is kept where the holds are (src/agent).
 */
#include "control/private.h"

#include <stdatomic.h>
#include <time.h>

#define HIT_PRICE 7000u	   /* ns; 5.9 us measured for trap and signal, and the handler */
#define SAMPLE_PRICE 3000u /* ns */
#define IDLE_SHARE 4	   /* a sleeping program counts as using 1/4 of a CPU */
#define CREDIT_START (SECOND / 2)
#define CREDIT_MAX (SECOND)

static uint64_t clock_of(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* CPU clock of another process: MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) in the kernel. */
clockid_t control_process_clock(pid_t pid)
{
	return (clockid_t)(~(unsigned)pid << 3 | 2);
}

static uint64_t program_time(struct control *control)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = control->target[i];
		uint64_t now, before;

		if (!target)
			continue;
		before = target->cpu_time;
		now = clock_of(control_process_clock(target->pid));
		if (now > before) {
			sum += before ? now - before : 0;
			target->cpu_time = now;
		}
	}
	return sum;
}

static uint64_t program_hits(const struct control *control)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i])
			sum += atomic_load(&control->area->process[i].delivered);
	return sum;
}

static uint64_t spent_so_far(struct control *control)
{
	uint64_t own = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t hits = program_hits(control);

	/* Entries are reused: a count that fell belongs to another process. */
	control->hits_paid += hits > control->hits_seen ? hits - control->hits_seen : 0;
	control->hits_seen = hits;
	return own - control->exempt + control->hits_paid * HIT_PRICE +
	       control->count[COUNT_SAMPLES] * SAMPLE_PRICE;
}

void budget_start(struct control *control)
{
	control->credit = CREDIT_START;
	control->spent = spent_so_far(control);
	control->budget_time = control_now();
}

void budget_check(struct control *control)
{
	uint64_t now = control_now(), spent = spent_so_far(control);
	uint64_t used = program_time(control), idle = (now - control->budget_time) / IDLE_SHARE;
	double share = control->options.budget / 100, rate;

	if (used < idle)
		used = idle;
	control->credit += (int64_t)((double)used * share) - (int64_t)(spent - control->spent);
	if (control->credit > (int64_t)CREDIT_MAX)
		control->credit = CREDIT_MAX;
	rate = (double)used * share / (double)(now - control->budget_time + 1);
	control->spent = spent;
	control->budget_time = now;
	if (control->credit >= 0)
		return;
	count_one(control, COUNT_PAUSES);
	control->paused_until = now + (uint64_t)((double)-control->credit / (rate + 1e-4));
	if (control->paused_until > now + SECOND)
		control->paused_until = now + SECOND;
}

uint64_t control_work_begin(void)
{
	return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

void control_work_end(struct control *control, uint64_t begun)
{
	control->exempt += clock_of(CLOCK_THREAD_CPUTIME_ID) - begun;
}
