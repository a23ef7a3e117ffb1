/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs whose threads sleep and wake all the time (target/transient.h), where code is watched
 * in one thread at a time, and the address that this is about to access in all threads, while it is
 * held, where a probe has shown that to be worth it (probe.c).
 *
 * Such programs have other threads, for housekeeping, that run a few times a second: background
 * threads. They have code of their own and can be waited for long.
 */
#include "usage/background.h"

#include "record/delay.h"
#include "usage/in_use.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Background threads are those that wake least often, together less than one in so many of all
 * wake-ups of the process. */
#define BACKGROUND_PARTS 7
/* At one in so many censuses the stack of a known background thread is looked at again. */
#define LOOK_PARTS 4
/* A hold takes one in so many parts of what a thread can save up, and this at most. */
#define HOLD_PARTS 2
#define HOLD (3 * MILLISECOND)
/* In a shorter one a probe (answer/probe.h) is not over before its thread goes on. */
#define HOLD_LEAST (MILLISECOND / 2)

static void note_background(struct target *target, pid_t tid)
{
	struct usage *usage = usage_of(target);
	struct background_thread *thread = background_find(target, tid);

	if (is_off(target, HEURISTIC_BACKGROUND))
		return;
	if (!thread && usage->background_count < BACKGROUND_MAX) {
		thread = &usage->background[usage->background_count++];
		*thread = (struct background_thread){.tid = tid};
	}
	if (!thread)
		return;
	thread->seen = true;
	if (random_next(&target->program->random) % LOOK_PARTS == 0 || !thread->sites.used)
		code_look_at(target, thread);
}

/* Those that the last look did not find: they have ended, wake often now, or not at all. */
static void forget_others(struct usage *usage)
{
	for (unsigned i = 0; i < usage->background_count;) {
		if (usage->background[i].seen)
			i++;
		else
			usage->background[i] = usage->background[--usage->background_count];
	}
}

static int compare(const void *a, const void *b)
{
	const struct thread_rate *x = a, *y = b;

	return (x->rate > y->rate) - (x->rate < y->rate);
}

/* Sorts the process's threads by how often they wake, and notes the first ones. */
static void find_background(struct target *target)
{
	struct usage *usage = usage_of(target);
	double sum = 0, all = 0;

	for (unsigned i = 0; i < usage->background_count; i++)
		usage->background[i].seen = false;
	for (unsigned i = 0; i < target->transient.count; i++)
		all += target->transient.thread[i].rate;
	qsort(target->transient.thread, target->transient.count,
	      sizeof(target->transient.thread[0]), compare);
	for (unsigned i = 0; i < target->transient.count; i++) {
		sum += target->transient.thread[i].rate;
		if (sum * BACKGROUND_PARTS > all)
			break;
		if (target->transient.thread[i].rate > 0)
			note_background(target, target->transient.thread[i].tid);
	}
	forget_others(usage);
}

/* Armed slots have become dear. All watches of all threads end now. The contended sites that they
 * found are forgotten: threads that came one after the other may be ordered, and from now on only
 * memory that changes under a held thread makes a site contended. */
static void begin(struct target *target)
{
	target->explored->memory.contended.used = 0;
	for (unsigned i = 0; i < target->slots; i++)
		target->slot[i].deadline = 0;
}

void background_look(struct target *target)
{
	struct usage *usage = usage_of(target);
	bool dear = armed_is_dear(target);

	if (usage->counted_at == target->wakeups.counted_at)
		return;
	usage->counted_at = target->wakeups.counted_at;
	if (dear && !usage->armed_dear)
		begin(target);
	usage->armed_dear = dear;
	if (dear)
		find_background(target);
	else
		usage->background_count = 0;
}

/* As the thread's handler finds it: it may share its account with a thread that wakes more often.
 */
static uint32_t wakes_of(const struct target *target, const struct thread_rate *thread)
{
	const struct area_credit *account = area_credit_of(target->shared, (uint64_t)thread->tid);

	return atomic_load_explicit(&account->wakes, memory_order_relaxed);
}

/* ns that a hold may cost: a thread can have saved up for it HOLD_PARTS times over. */
static uint64_t cost_most(const struct target *target)
{
	return area_credit_saved(target->program->area, 0, clock_now()) / HOLD_PARTS;
}

/* Work that comes to the thread meanwhile waits, too, and counts. */
uint64_t single_hold(const struct target *target, const struct thread_rate *thread)
{
	uint64_t most = cost_most(target);
	uint64_t least = most < HOLD_LEAST ? most : HOLD_LEAST;

	return delay_longest_hold(most < HOLD ? most : HOLD, least, most, wakes_of(target, thread));
}

static bool has_slot(const struct target *target, pid_t tid)
{
	for (unsigned i = 0; i < target->slots; i++)
		if ((target->slot[i].armed || target->explored->choice[i].probed_until) &&
		    target->slot[i].only == tid)
			return true;
	return false;
}

/* When the thread will have saved up for its hold; CLOCK_MONOTONIC ns. */
static uint64_t holdable_at(const struct target *target, const struct thread_rate *thread)
{
	const struct area *area = target->program->area;
	uint64_t most = cost_most(target);
	uint64_t cost = delay_of_hold(single_hold(target, thread), wakes_of(target, thread));

	return atomic_load(&area_credit_of(target->shared, (uint64_t)thread->tid)->until) +
	       (cost < most ? cost : most) * 10000 / area_hold_parts(area);
}

const struct thread_rate *single_choose(struct target *target, uint64_t now)
{
	struct usage *usage = usage_of(target);
	const struct thread_rate *chosen = NULL;
	unsigned equals = 0;

	usage->next = UINT64_MAX;
	for (unsigned i = 0; i < target->transient.count; i++) {
		const struct thread_rate *thread = &target->transient.thread[i];
		uint64_t at;

		if (thread->rate <= 0 || has_slot(target, thread->tid))
			continue;
		at = holdable_at(target, thread);
		if (at > now && at < usage->next)
			usage->next = at;
		if (at <= now && random_next(&target->program->random) % ++equals == 0)
			chosen = thread;
	}
	return chosen;
}

uint64_t single_next(const struct target *target)
{
	return usage_of(target)->next;
}

const struct thread_rate *single_find(struct target *target, pid_t tid, uint64_t now)
{
	for (unsigned i = 0; i < target->transient.count; i++)
		if (target->transient.thread[i].tid == tid && !has_slot(target, tid) &&
		    holdable_at(target, &target->transient.thread[i]) <= now)
			return &target->transient.thread[i];
	return NULL;
}

bool single_is_known(const struct target *target, pid_t tid)
{
	for (unsigned i = 0; i < target->transient.count; i++)
		if (target->transient.thread[i].tid == tid)
			return true;
	return false;
}
