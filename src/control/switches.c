/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events cost a program whose threads come and go.
 *
 * Each time a thread gets a CPU the kernel writes its watchpoints to the debug registers, or starts
 * the timer of its clock, and undoes it when the thread leaves; in a virtual machine each of these
 * may be an exit to the hypervisor. A server that sleeps and wakes 50,000 times a second pays a
 * tenth of its CPU time for slots that never trip. Nobody counts this, so it is estimated: how
 * often the threads get a CPU, times how long
 * the events were on, times the price of one such round trip, measured here on a thread of our own.
 */
#include "control/switches.h"

#include "control/price.h"
#include "control/thread_status.h"
#include "event/threads.h"

#include <stdatomic.h>

#define LOOK_INTERVAL SECOND /* between counts; the first comes sooner */
#define LOOK_SOON (100 * MILLISECOND)
#define THREADS_LOOKED_AT 64 /* of more, some: the rest is taken to be like them */

static void *measure(void *argument)
{
	struct control *control = argument;

	atomic_store(&control->switch_price, price_of_switch(false));
	atomic_store(&control->timer_price, price_of_switch(true));
	return NULL;
}

void switches_start(struct control *control)
{
	control->pricing = !pthread_create(&control->pricing_thread, NULL, measure, control);
}

void switches_end(struct control *control)
{
	if (control->pricing)
		pthread_join(control->pricing_thread, NULL);
	control->pricing = false;
}

void switches_armed(struct target *target)
{
	if (target->armed_slots++ == 0)
		target->armed_since = control_now();
}

void switches_silent(struct target *target)
{
	if (--target->armed_slots == 0)
		target->armed_time += control_now() - target->armed_since;
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

static uint64_t count_of(const struct target *target)
{
	struct thread_set threads = {0};
	uint64_t sum = 0, slices;
	size_t looked_at;

	thread_set_list(&threads, target->pid);
	looked_at = threads.count < THREADS_LOOKED_AT ? threads.count : THREADS_LOOKED_AT;
	for (size_t i = 0; i < looked_at; i++)
		if (thread_status_slices(target->pid, threads.tids[i * threads.count / looked_at],
					 &slices))
			sum += slices;
	if (looked_at)
		sum = sum * threads.count / looked_at;
	thread_set_destroy(&threads);
	return sum;
}

/* Threads that end take their counts along: the rate is then what it was. */
static void look(struct target *target, uint64_t now)
{
	uint64_t count = count_of(target);

	if (target->looked_at && count >= target->timeslices)
		target->switch_rate = (double)(count - target->timeslices) * (double)SECOND /
				      (double)(now - target->looked_at + 1);
	target->next_count = now + (target->looked_at ? LOOK_INTERVAL : LOOK_SOON);
	target->timeslices = count;
	target->looked_at = now;
}

static double spent_by(struct control *control, struct target *target, uint64_t now, double sampled)
{
	double armed = (double)take_armed_time(target, now) / (double)SECOND;

	if (now >= target->next_count)
		look(target, now);
	return target->switch_rate * (armed * (double)atomic_load(&control->switch_price) +
				      sampled * (double)atomic_load(&control->timer_price));
}

uint64_t switches_spent(struct control *control)
{
	double sampled = (double)bursts_take_time(control) / (double)SECOND, sum = 0;
	uint64_t now = control_now();

	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (control->target[i] && !control->target[i]->observed)
			sum += spent_by(control, control->target[i], now, sampled);
	return (uint64_t)sum;
}
