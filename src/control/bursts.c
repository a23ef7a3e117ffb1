/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When samples are taken.
 *
 * A task-clock event sets a timer each time a thread of the program gets a CPU and cancels it when
 * the thread leaves, whatever its period: in a server that sleeps and wakes tens of thousands of
 * times a second that costs a fifth of its CPU time in a virtual machine. So the events are on for
 * short bursts, with a short period, and off between: as many samples as watches can be made of.
 *
 * To switch them interrupts a CPU per thread. The more threads, the longer the rest.
 */
#include "control/private.h"

#include "control/samples.h"

#include <stdatomic.h>

#define BURST (4 * MILLISECOND)
#define REST_SOON (36 * MILLISECOND)   /* in the beginning, when all is new */
#define REST_LATER (196 * MILLISECOND) /* at a budget of 1 percent and above; longer below */
/* Where threads come and go all the time, which is dear, and probes tell more (probe.c). */
#define BURST_SINGLE (2 * MILLISECOND)
#define REST_SINGLE (6000 * MILLISECOND)
#define BUDGET_PARTS 3 /* one of them is for samples */
#define SOON (4 * SECOND)
#define SWITCH_PARTS 100 /* a rest is at least so many times what switching takes */
#define PERIOD (MILLISECOND / 25)
#define PERIOD_AGGRESSIVE (MILLISECOND / 2)

/* What finds as much as possible may cost it. */
static bool is_steady(const struct control *control)
{
	return control->options.aggressive;
}

/* The other strategy has a timer of its own in each thread and watches nothing that is sampled. */
static bool is_silent(const struct control *control)
{
	return (!control->samples && !control->burst.brief) || control->options.stall_first;
}

uint64_t burst_period(const struct control *control)
{
	if (control->options.aggressive)
		return PERIOD_AGGRESSIVE;
	return PERIOD;
}

/* From when on threads come and go too often for events that are merely open. Only a process that
 * is not watched itself loses by it: its samples were dropped in any case. */
static void become_brief(struct control *control)
{
	for (unsigned i = 0; i < AREA_PROCESSES && !control->burst.brief; i++)
		control->burst.brief = control->target[i] && control->target[i]->brief.on;
}

bool bursts_are_new(const struct control *control, uint64_t now)
{
	return now - control->started < SOON;
}

/* So long that samples take a part of the budget and no more, in a program that computes. */
static uint64_t affordable_rest(const struct control *control)
{
	double share = (double)atomic_load(&control->sample_price) / (double)burst_period(control);

	return (uint64_t)((double)BURST * share * 100 * BUDGET_PARTS / control->options.budget);
}

static bool all_are_single(const struct control *control)
{
	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i] && !control->target[i]->brief.single)
			return false;
	return control->burst.brief;
}

static uint64_t rest(const struct control *control, uint64_t now)
{
	uint64_t least = SWITCH_PARTS * control->burst.switching, rest = REST_LATER;
	bool soon = bursts_are_new(control, now);

	if (all_are_single(control))
		rest = soon ? REST_LATER : REST_SINGLE;
	else if (soon)
		rest = control->burst.brief ? REST_LATER : REST_SOON;
	else if (affordable_rest(control) > least)
		least = affordable_rest(control);
	if (control->options.budget < 1)
		rest = (uint64_t)((double)rest / control->options.budget);
	return rest > least ? rest : least;
}

static uint64_t length(const struct control *control)
{
	return all_are_single(control) ? BURST_SINGLE : BURST;
}

static void turn(struct control *control, bool on)
{
	uint64_t begin = control_now(), now;

	if (on && control->burst.brief)
		attach_samples_again(control);
	if (control->samples)
		samples_switch(control->samples, on);
	now = control_now();
	control->burst.switching = (3 * control->burst.switching + (now - begin)) / 4;
	if (on)
		control->burst.since = now;
	else if (control->burst.on)
		control->burst.time += now - control->burst.since;
	control->burst.on = on;
	control->burst.until = now + (on ? length(control) : rest(control, now));
	if (on) {
		control->next_drain = now;
		count_one(control, COUNT_BURSTS);
	}
}

static void run_steadily(struct control *control)
{
	turn(control, true);
	control->burst.until = UINT64_MAX;
}

static void end_burst(struct control *control)
{
	if (control->samples)
		sampling_drain(control);
	turn(control, false);
	become_brief(control);
	if (control->burst.brief) {
		samples_close(control->samples);
		control->samples = NULL;
	}
}

void bursts_run(struct control *control)
{
	uint64_t now = control_now();

	if (is_silent(control) || now < control->burst.until)
		return;
	if (is_steady(control)) {
		run_steadily(control);
	} else if (control->burst.on) {
		end_burst(control);
	} else if (now < control->paused_until) {
		control->burst.until = control->paused_until;
	} else {
		turn(control, true);
	}
}

uint64_t bursts_take_time(struct control *control)
{
	uint64_t time = control->burst.time, now = control_now();

	if (control->burst.on) {
		time += now - control->burst.since;
		control->burst.since = now;
	}
	control->burst.time = 0;
	return time;
}

uint64_t bursts_next(const struct control *control)
{
	return is_silent(control) ? UINT64_MAX : control->burst.until;
}
