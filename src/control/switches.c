/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events cost a program whose threads come and go.
 *
 * Each time a thread gets a CPU the kernel writes its watchpoints to the debug registers, or starts
 * the timer of its clock, and undoes it when the thread leaves; in a virtual machine each of these
 * may be an exit to the hypervisor. A server that sleeps and wakes 50,000 times a second pays a
 * tenth of its CPU time for slots that never trip. Nobody counts this, so it is estimated: how
 * often the threads get a CPU, times how long the events were on, times the price of one such round
 * trip, measured here on a thread of our own and bounded by what is seen (bound.h).
 */
#include "control/switches.h"

#include "control/price.h"
#include "control/thread_status.h"
#include "event/threads.h"

#include <stdatomic.h>

/* Between counts; the first comes sooner, and those of brief slots. */
#define LOOK_INTERVAL SECOND
#define LOOK_SOON (200 * MILLISECOND)
#define THREADS_LOOKED_AT BRIEF_THREADS

/* One measurement in some twenty is far off, where the machine has just become busy, say. */
static const uint64_t pricing_time[SWITCH_PRICINGS] = {0, SECOND / 2, 2 * SECOND};

static void *measure(void *argument)
{
	struct control *control = argument;
	unsigned index = atomic_load(&control->priced);

	control->price[index] = (int64_t)price_of_switch(false);
	atomic_store(&control->switch_price, (uint64_t)price_middle(control->price, index + 1));
	if (!index) {
		atomic_store(&control->timer_price, price_of_switch(true));
		atomic_store(&control->sample_price, price_of_sample(burst_period(control)));
	}
	atomic_store(&control->priced, index + 1);
	return NULL;
}

void switches_start(struct control *control)
{
	control->pricing = !pthread_create(&control->pricing_thread, NULL, measure, control);
	control->pricings++;
}

void switches_price(struct control *control, uint64_t now)
{
	unsigned priced = atomic_load(&control->priced);

	if (!control->pricing || control->options.lasting || control->options.limits_only ||
	    priced != control->pricings || priced == SWITCH_PRICINGS ||
	    now < control->started + pricing_time[priced])
		return;
	switches_end(control);
	switches_start(control);
}

void switches_end(struct control *control)
{
	if (control->pricing)
		pthread_join(control->pricing_thread, NULL);
	control->pricing = false;
}

double switches_price_of(const struct target *target)
{
	return bound_price(&target->bound, (double)atomic_load(&target->control->switch_price));
}

/* Slots that are armed in all threads cost as much together as one. */
void switches_armed(struct target *target, const struct slot *slot)
{
	if (!slot->only && target->armed_slots++ == 0)
		target->armed_since = control_now();
}

void switches_silent(struct target *target, const struct slot *slot)
{
	uint64_t now = control_now();

	if (slot->only)
		target->single_comings +=
			slot->comings * (double)(now - slot->armed_at) / (double)SECOND;
	else if (--target->armed_slots == 0)
		target->armed_time += now - target->armed_since;
}

static uint64_t take_armed_time(struct target *target, uint64_t now)
{
	uint64_t time = target->armed_time;

	if (target->armed_slots) {
		time += now - target->armed_since;
		target->armed_since = now;
	}
	target->armed_time = 0;
	return time;
}

/* Of so many threads that were looked at; of more, some, and the rest is taken to be like them. */
struct comings {
	struct thread_rate thread[THREADS_LOOKED_AT];
	unsigned count;
	bool all;
};

static uint64_t count_of(struct target *target, struct comings *comings)
{
	struct thread_set threads = {0};
	size_t looked_at;
	uint64_t sum = 0;

	thread_set_list(&threads, target->pid);
	comings->all = threads.count <= THREADS_LOOKED_AT;
	looked_at = comings->all ? threads.count : THREADS_LOOKED_AT;
	for (size_t i = 0; i < looked_at; i++) {
		struct thread_rate *thread = &comings->thread[comings->count];

		thread->tid = threads.tids[i * threads.count / looked_at];
		if (!thread_status_slices(target->pid, thread->tid, &thread->slices))
			continue;
		sum += thread->slices;
		comings->count++;
	}
	if (looked_at)
		sum = sum * threads.count / looked_at;
	/* A thread that makes threads for pieces of work waits for them: half of all can be held.
	 */
	atomic_store_explicit(&target->shared->lanes,
			      threads.count < 2 ? 1 : (uint32_t)threads.count / 2,
			      memory_order_relaxed);
	thread_set_destroy(&threads);
	return sum;
}

/* Threads that end take their counts along: the rate is then what it was. */
static void look(struct target *target, uint64_t now)
{
	struct comings comings = {0};
	uint64_t count = count_of(target, &comings), before = target->looked_at;
	uint64_t cpu_time = control_clock(control_process_clock(target->pid));
	double seconds = (double)(now - before + 1) / (double)SECOND;

	if (before && count >= target->timeslices && cpu_time >= target->cpu_time) {
		target->switch_rate = (double)(count - target->timeslices) / seconds;
		target->cpu_rate = (double)(cpu_time - target->cpu_time) / seconds / (double)SECOND;
		bound_look(&target->bound, (double)(count - target->timeslices),
			   cpu_time - target->cpu_time);
	}
	target->timeslices = count;
	target->cpu_time = cpu_time;
	target->looked_at = now;
	brief_look(target, comings.thread, comings.all ? comings.count : 0, seconds);
	target->next_count =
		now +
		(before && (target->brief.single || !target->brief.on) ? LOOK_INTERVAL : LOOK_SOON);
}

static void add_spent(struct control *control, struct target *target, uint64_t now, double sampled,
		      struct switches_cost *cost)
{
	double armed = (double)take_armed_time(target, now) / (double)SECOND;
	double coming = (double)atomic_load(&control->switch_price);
	double timer = bound_price(&target->bound, (double)atomic_load(&control->timer_price));
	double sample = (double)atomic_load(&control->sample_price);

	if (now >= target->next_count)
		look(target, now);
	cost->switching += bound_charge(&target->bound,
					target->switch_rate * armed + target->single_comings,
					coming) +
			   target->switch_rate * sampled * timer;
	cost->sampling += target->cpu_rate * sampled * (double)SECOND /
			  (double)burst_period(control) * sample;
	target->single_comings = 0;
}

struct switches_cost switches_spent(struct control *control)
{
	double sampled = (double)bursts_take_time(control) / (double)SECOND;
	struct switches_cost cost = {0};
	uint64_t now = control_now();

	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i] && !control->target[i]->observed)
			add_spent(control, control->target[i], now, sampled, &cost);
	return cost;
}
