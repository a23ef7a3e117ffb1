/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that seldom get a CPU, in a process where others do all the time.
 *
 * A slot costs each thread that gets a CPU while it is armed (switches.c), and about half of that
 * while it is only open. In a server whose workers sleep and wake tens of thousands of times a
 * second nothing can stay open: slots are opened for one watch at a time. Nor can anything be armed
 * for long. But it has other threads, for housekeeping: those that run a few times a second can be
 * watched at next to no cost, and what they access the workers access as well. So, when what was
 * lent is spent, code is watched in one calm thread; and when that stands before an access, the
 * address is watched in all threads while it is held.
 */
#include "control/private.h"

#include <stdatomic.h>
#include <stdlib.h>

#define DEAR_COMINGS 5000.0 /* a second; with fewer, slots that stay open cost little */
#define DEAR_PARTS 10	    /* and armed ones cost more than this part of the CPU time used … */
#define CHEAP_PARTS 40	    /* … until they cost less than this one */
#define OPEN_PARTS 2	    /* of what an armed slot costs, what a merely open one does */
#define BRIEF_PARTS 200	    /* open ones cost more than this part of the CPU time used … */
#define LASTING_PARTS 400   /* … until they cost less than this one */
#define CALM_PARTS 7	    /* all calm threads together come less often than this part of all do */

static uint64_t slices_before(const struct calm *calm, pid_t tid, uint64_t otherwise)
{
	for (unsigned i = 0; i < calm->seen_count; i++)
		if (calm->seen[i].tid == tid)
			return calm->seen[i].slices;
	return otherwise;
}

/* Do slots cost more than this part of the CPU time used? */
static bool cost_more(const struct target *target, double price, double parts)
{
	return target->switch_rate * price * parts > target->cpu_rate * (double)SECOND;
}

static bool open_is_dear(const struct target *target)
{
	const struct control *control = target->control;
	double price = (double)atomic_load(&control->switch_price) / OPEN_PARTS;

	if (control->options.aggressive || control->options.stall_first || control->options.lasting)
		return false;
	return cost_more(target, price, target->calm.brief ? LASTING_PARTS : BRIEF_PARTS);
}

static bool is_dear(const struct target *target)
{
	const struct control *control = target->control;
	double price = (double)atomic_load(&control->switch_price);

	/* What there is for the first finds is spent the dear way, which finds more for it. */
	if (!target->calm.on && (control->loan || control->credit > (int64_t)CREDIT_FOR_DEAR))
		return false;
	if (control->options.aggressive || control->options.stall_first ||
	    control->options.lasting || target->slots < 2)
		return false;
	return target->switch_rate > DEAR_COMINGS &&
	       cost_more(target, price, target->calm.on ? CHEAP_PARTS : DEAR_PARTS);
}

struct calm_thread *calm_find(struct target *target, pid_t tid)
{
	for (unsigned i = 0; i < target->calm.count; i++)
		if (target->calm.thread[i].tid == tid)
			return &target->calm.thread[i];
	return NULL;
}

static void note(struct target *target, pid_t tid, double comings)
{
	struct calm *calm = &target->calm;
	struct calm_thread *thread = calm_find(target, tid);

	if (!thread && calm->count < CALM_MAX) {
		thread = &calm->thread[calm->count++];
		*thread = (struct calm_thread){.tid = tid};
	}
	if (!thread)
		return;
	thread->comings = comings;
	code_look_at(target, thread);
}

/* Those that have ended, or are calm no longer, or do nothing. */
static void forget_others(struct target *target)
{
	struct calm *calm = &target->calm;

	for (unsigned i = 0; i < calm->count;) {
		if (calm->thread[i].comings > 0)
			i++;
		else
			calm->thread[i] = calm->thread[--calm->count];
	}
}

struct thread_rate {
	pid_t tid;
	double comings; /* a second */
};

static int compare(const void *a, const void *b)
{
	const struct thread_rate *x = a, *y = b;

	return (x->comings > y->comings) - (x->comings < y->comings);
}

static void look_at_threads(struct target *target, const pid_t *tids, const uint64_t *slices,
			    unsigned count, double comings, double seconds)
{
	struct calm *calm = &target->calm;
	struct thread_rate thread[CALM_THREADS] = {0};
	double sum = 0;

	for (unsigned i = 0; i < calm->count; i++)
		calm->thread[i].comings = 0;
	for (unsigned i = 0; i < count; i++) {
		uint64_t before = slices_before(calm, tids[i], slices[i]);

		thread[i] = (struct thread_rate){tids[i], (double)(slices[i] - before) / seconds};
	}
	qsort(thread, count, sizeof(thread[0]), compare);
	for (unsigned i = 0; i < count; i++) {
		sum += thread[i].comings;
		if (sum * CALM_PARTS > comings)
			break;
		if (thread[i].comings > 0)
			note(target, thread[i].tid, thread[i].comings);
	}
	forget_others(target);
}

/* Those of all threads, as soon as nobody is held. */
static void end_watches(struct target *target)
{
	for (unsigned i = 0; i < target->slots; i++)
		target->slot[i].deadline = 0;
}

void calm_look(struct target *target, const pid_t *tids, const uint64_t *slices, unsigned count,
	       double seconds)
{
	struct calm *calm = &target->calm;
	bool was;

	calm->brief = calm->known && count && open_is_dear(target);
	was = calm->on;
	calm->on = calm->brief && is_dear(target);
	if (calm->on && !was)
		end_watches(target);
	if (calm->brief)
		slots_close_silent(target);
	if (calm->on)
		look_at_threads(target, tids, slices, count, target->switch_rate, seconds);
	calm->seen_count = count;
	for (unsigned i = 0; i < count; i++) {
		calm->seen[i].tid = tids[i];
		calm->seen[i].slices = slices[i];
	}
	calm->known = true;
}

static bool has_slot(const struct target *target, pid_t tid)
{
	for (unsigned i = 0; i < target->slots; i++)
		if (target->slot[i].armed && target->slot[i].brief && target->slot[i].only == tid)
			return true;
	return false;
}

struct calm_thread *calm_choose(struct target *target, uint64_t now)
{
	struct calm *calm = &target->calm;
	struct calm_thread *chosen = NULL;
	unsigned equals = 0;

	for (unsigned i = 0; i < calm->count; i++)
		if (now >= calm->thread[i].next && !has_slot(target, calm->thread[i].tid) &&
		    control_random(target->control) % ++equals == 0)
			chosen = &calm->thread[i];
	return chosen;
}

/* Its account is then as good as empty (src/agent/handler.c: take_credit()). */
void calm_held(struct target *target, pid_t tid, uint64_t held)
{
	struct calm_thread *thread = calm_find(target, tid);

	if (thread)
		thread->next = control_now() +
			       (uint64_t)((double)held * 100 / target->control->options.budget);
}
