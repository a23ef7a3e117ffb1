/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs whose threads come and go all the time.
 *
 * A slot costs each thread that gets a CPU while it is armed (switches.c), and about half of that
 * while it is only open. In a server whose workers sleep and wake tens of thousands of times a
 * second nothing can stay open: slots are opened for one watch at a time, code is watched in one
 * thread at a time, and the address that this is about to access in all threads, while it is held,
 * where a probe has shown that to be worth it (probe.c).
 *
 * Such programs have other threads, for housekeeping, that run a few times a second: calm ones.
 * They have code of their own and can be waited for long.
 */
#include "control/private.h"

#include "control/switches.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_PARTS 2	    /* of what an armed slot costs, what a merely open one does */
#define BRIEF_PARTS 200	    /* open ones cost more than this part of the CPU time used … */
#define LASTING_PARTS 400   /* … until they cost less than this one */
#define DEAR_COMINGS 5000.0 /* a second; with fewer, armed slots cost little … */
#define DEAR_PARTS 10	    /* … and no more than this part of the CPU time used … */
#define CHEAP_PARTS 40	    /* … until they cost less than this one */
#define CALM_PARTS 7	    /* all calm threads together come less often than this part of all do */
#define LOOK_PARTS 4	    /* of looks, one is at the stack of a calm thread as well */
#define HOLD (3 * MILLISECOND)
#define HOLD_PARTS 2 /* of what a thread can save up, a hold takes one at most */

/* Do slots that cost a thread so much each time take more than this part of the CPU time used? */
static bool cost_more(const struct target *target, double price, double parts)
{
	return target->switch_rate * price * parts > target->cpu_rate * (double)SECOND;
}

static bool open_is_dear(const struct target *target)
{
	const struct control *control = target->control;
	double price = switches_price_of(target) / OPEN_PARTS;

	if (control->options.aggressive || control->options.stall_first || control->options.lasting)
		return false;
	return cost_more(target, price, target->brief.on ? LASTING_PARTS : BRIEF_PARTS);
}

static bool armed_is_dear(const struct target *target)
{
	double price = switches_price_of(target);

	return target->switch_rate > DEAR_COMINGS &&
	       cost_more(target, price, target->brief.single ? CHEAP_PARTS : DEAR_PARTS);
}

struct calm_thread *brief_calm(struct target *target, pid_t tid)
{
	for (unsigned i = 0; i < target->brief.calm_count; i++)
		if (target->brief.calm[i].tid == tid)
			return &target->brief.calm[i];
	return NULL;
}

static void note_calm(struct target *target, pid_t tid)
{
	struct brief *brief = &target->brief;
	struct calm_thread *thread = brief_calm(target, tid);

	if (!thread && brief->calm_count < CALM_MAX) {
		thread = &brief->calm[brief->calm_count++];
		*thread = (struct calm_thread){.tid = tid};
	}
	if (!thread)
		return;
	thread->seen = true;
	if (control_random(target->control) % LOOK_PARTS == 0 || !thread->places.used)
		code_look_at(target, thread);
}

/* Those that have ended, or are calm no longer, or do nothing. */
static void forget_others(struct brief *brief)
{
	for (unsigned i = 0; i < brief->calm_count;) {
		if (brief->calm[i].seen)
			i++;
		else
			brief->calm[i] = brief->calm[--brief->calm_count];
	}
}

static int compare(const void *a, const void *b)
{
	const struct thread_rate *x = a, *y = b;

	return (x->comings > y->comings) - (x->comings < y->comings);
}

/* The threads are in order from here on. */
static void find_calm(struct target *target)
{
	struct brief *brief = &target->brief;
	double sum = 0, all = 0;

	for (unsigned i = 0; i < brief->calm_count; i++)
		brief->calm[i].seen = false;
	for (unsigned i = 0; i < brief->count; i++)
		all += brief->thread[i].comings;
	qsort(brief->thread, brief->count, sizeof(brief->thread[0]), compare);
	for (unsigned i = 0; i < brief->count; i++) {
		sum += brief->thread[i].comings;
		if (sum * CALM_PARTS > all)
			break;
		if (brief->thread[i].comings > 0)
			note_calm(target, brief->thread[i].tid);
	}
	forget_others(brief);
}

static uint64_t slices_before(const struct brief *brief, const struct thread_rate *thread)
{
	for (unsigned i = 0; i < brief->count; i++)
		if (brief->thread[i].tid == thread->tid)
			return brief->thread[i].slices;
	return thread->slices;
}

/* Watches of all threads end as soon as nobody is held. What was met in them may be ordered: from
 * here on only what changes under a thread that is held promises anything. */
static void begin(struct target *target)
{
	target->promising_used = 0;
	for (unsigned i = 0; i < target->slots; i++)
		target->slot[i].deadline = 0;
}

void brief_look(struct target *target, struct thread_rate *thread, unsigned count, double seconds)
{
	struct brief *brief = &target->brief;
	bool was = brief->single;

	brief->running_count = 0;
	for (unsigned i = 0; i < count; i++) {
		thread[i].comings =
			(double)(thread[i].slices - slices_before(brief, &thread[i])) / seconds;
		if (thread[i].comings > 0)
			brief->running[brief->running_count++] = thread[i].tid;
	}
	memcpy(brief->thread, thread, count * sizeof(thread[0]));
	brief->count = count;
	brief->on = brief->known && count && open_is_dear(target);
	brief->single = brief->on && armed_is_dear(target);
	brief->known = true;
	if (brief->single && !was)
		begin(target);
	if (brief->on)
		slots_close_silent(target);
	if (brief->single)
		find_calm(target);
	else
		brief->calm_count = 0;
}

uint64_t brief_hold(const struct target *target)
{
	uint64_t most = area_credit_saved(target->control->area, 0, control_now()) / HOLD_PARTS;

	return most < HOLD ? most : HOLD;
}

static bool has_slot(const struct target *target, pid_t tid)
{
	for (unsigned i = 0; i < target->slots; i++)
		if ((target->slot[i].armed || target->slot[i].probe.until) &&
		    target->slot[i].only == tid)
			return true;
	return false;
}

/* When it will have saved up for a hold. */
static uint64_t holdable_at(const struct target *target, pid_t tid, uint64_t hold)
{
	return atomic_load(&area_credit_of(target->shared, (uint64_t)tid)->until) +
	       hold * 10000 / area_hold_parts(target->control->area);
}

const struct thread_rate *brief_choose(struct target *target, uint64_t now)
{
	struct brief *brief = &target->brief;
	const struct thread_rate *chosen = NULL;
	uint64_t hold = brief_hold(target);
	unsigned equals = 0;

	brief->next = UINT64_MAX;
	for (unsigned i = 0; i < brief->count; i++) {
		const struct thread_rate *thread = &brief->thread[i];
		uint64_t at;

		if (thread->comings <= 0 || has_slot(target, thread->tid))
			continue;
		at = holdable_at(target, thread->tid, hold);
		if (at > now && at < brief->next)
			brief->next = at;
		if (at <= now && control_random(target->control) % ++equals == 0)
			chosen = thread;
	}
	return chosen;
}

const struct thread_rate *brief_find(struct target *target, pid_t tid, uint64_t now)
{
	struct brief *brief = &target->brief;

	for (unsigned i = 0; i < brief->count; i++)
		if (brief->thread[i].tid == tid && !has_slot(target, tid) &&
		    holdable_at(target, tid, brief_hold(target)) <= now)
			return &brief->thread[i];
	return NULL;
}
