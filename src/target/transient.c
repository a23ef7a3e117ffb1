/* SPDX-License-Identifier: Apache-2.0 */
#include "target/transient.h"

#include "base/clock.h"
#include "record/delay.h"
#include "target/target.h"

#include <string.h>

#define ASKED_RATE 100.0   /* wake-ups a second, of a thread whose sleeps are worth asking for */
#define OPEN_PARTS 2	   /* of what an armed slot costs, what a merely open one does */
#define ON_PARTS 200	   /* open ones cost more than this part of the CPU time used … */
#define OFF_PARTS 400	   /* … until they cost less than this one */
#define ARMED_RATE 5000.0  /* wake-ups a second; with fewer, armed slots cost little … */
#define ARMED_PARTS 10	   /* … and no more than this part of the CPU time used … */
#define ARMED_OFF_PARTS 40 /* … until they cost less than this one */

/* Do slots that cost a thread so much each time take more than this part of the CPU time used? */
static bool cost_more(const struct target *target, double price, double parts)
{
	return target->wakeups.rate * price * parts > target->wakeups.cpus * (double)SECOND;
}

static bool open_is_dear(const struct target *target)
{
	const struct program *program = target->program;
	double price = target_wakeup_price(target) / OPEN_PARTS;

	if (program->options.aggressive || program->ways.slots_stay)
		return false;
	return cost_more(target, price, target->transient.on ? OFF_PARTS : ON_PARTS);
}

static bool armed_costs_much(const struct target *target)
{
	double price = target_wakeup_price(target);

	return target->wakeups.rate > ARMED_RATE &&
	       cost_more(target, price, armed_is_dear(target) ? ARMED_OFF_PARTS : ARMED_PARTS);
}

/* As it was counted before; NULL: it was not. */
static const struct thread_rate *before(const struct transient *transient, pid_t tid)
{
	for (unsigned i = 0; i < transient->count; i++)
		if (transient->thread[i].tid == tid)
			return &transient->thread[i];
	return NULL;
}

static void rate(struct target *target, struct thread_rate *thread, double seconds)
{
	const struct thread_rate *last = before(&target->transient, thread->tid);

	thread->rate = thread->work = 0;
	thread->sleeps = 0;
	if (last)
		thread->rate = (double)(thread->slices.count - last->slices.count) / seconds;
	if ((!last || thread->rate >= ASKED_RATE) && target->program->ways.budgeted)
		thread_status_sleeps(target->pid, thread->tid, &thread->sleeps);
	if (last && last->sleeps && thread->sleeps > last->sleeps)
		thread->work = delay_arrivals((double)(thread->sleeps - last->sleeps) / seconds,
					      (double)(thread->slices.busy - last->slices.busy) /
						      1e9 / seconds);
}

void transient_look(struct target *target, struct thread_rate *thread, unsigned count,
		    double seconds)
{
	struct transient *transient = &target->transient;

	transient->running_count = 0;
	for (unsigned i = 0; i < count; i++) {
		rate(target, &thread[i], seconds);
		if (thread[i].rate > 0)
			transient->running[transient->running_count++] = thread[i].tid;
	}
	memcpy(transient->thread, thread, count * sizeof(thread[0]));
	transient->count = count;
	transient->on = transient->known && count && open_is_dear(target);
	transient->armed_dear = transient->on && armed_costs_much(target);
	transient->known = true;
	if (transient->on)
		slots_close_silent(target);
}
