/* SPDX-License-Identifier: Apache-2.0 */
/* The callbacks by which rooms tell those above them what happened (program/program.h and the
 * like). */
#include "control/events.h"

#include "aim/aim.h"
#include "arrival/enter.h"
#include "control/state.h"
#include "hold/hold.h"
#include "lasting/duty.h"
#include "lasting/threads.h"
#include "lasting/traces.h"
#include "strategy/explored.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <trapline/event.h>

static int allocate(struct target *target)
{
	int err = explored_open(target);

	target->limit = calloc(AREA_LIMITS, sizeof(*target->limit));
	target->duty = calloc(AREA_WATCHES, sizeof(*target->duty));
	return !err && target->limit && target->duty ? 0 : -ENOMEM;
}

static int open(struct target *target)
{
	int err = allocate(target);

	if (err)
		return err;
	account_open(target);
	limits_open(target);
	return target->control->strategy->open(target);
}

static void began(struct target *target)
{
	struct control *control = target->control;

	if (program_is_attached(target->program) && !target->observed)
		windows_attach(&control->windows, target->pid);
	windows_welcome(&control->windows);
	if (control->observer.process_began)
		control->observer.process_began(control->observer.context, target->pid);
}

static bool check(struct target *target)
{
	if (target->observed)
		observe_check(target);
	else
		threads_check(target);
	return !target->observed;
}

static void left(struct target *target)
{
	const struct control_observer *observer = &target->control->observer;

	if (observer->process_ended)
		observer->process_ended(observer->context, target->pid);
}

static void ending(struct target *target)
{
	const struct strategy *strategy = target->control->strategy;

	if (target->observed)
		observed_settle(target);
	else if (strategy->ending)
		strategy->ending(target);
	left(target);
}

static void close_slots(struct target *target)
{
	placed_end(target);
	for (unsigned i = 0; i < target->slots; i++)
		slot_close(target, &target->slot[i]);
}

static void close(struct target *target)
{
	struct control *control = target->control;

	account_collect(target);
	placed_collect(&control->program);
	hits_forget_target(&control->hits, target);
	if (!target->observed)
		close_slots(target);
	for (unsigned i = 0; target->observed && i < AREA_SLOTS; i++)
		observed_disarm(target, &target->slot[i]);
	if (target->limit)
		limits_close(target);
	for (unsigned i = 0; target->explored && i < AREA_SLOTS; i++)
		hits_forget_slot(&control->hits, &target->slot[i]);
	observed_close(target->observed);
	explored_close(target);
	free(target->limit);
	free(target->duty);
}

static void released(struct program *program, uint32_t index, bool ended)
{
	if (ended)
		pace_allow_process(&program->control->account.pace);
	hits_reclaim(&program->control->hits, index);
}

static void publish(struct target *target, struct slot *slot)
{
	const struct strategy *strategy = target->control->strategy;

	if (strategy->publish)
		strategy->publish(target, slot);
}

static bool is_entered(const struct program *program, pid_t pid)
{
	return entered_is(program, pid);
}

static int filters(const struct program *program, pid_t pid)
{
	return entered_filters(program, pid);
}

static const struct inject_stacks *stacks(const struct program *program, uint32_t index)
{
	return entered_stacks(program, index);
}

const struct program_events control_events = {
	.open = open,
	.began = began,
	.check = check,
	.ending = ending,
	.left = left,
	.close = close,
	.released = released,
	.publish = publish,
	.is_entered = is_entered,
	.filters = filters,
	.stacks = stacks,
	.limits_sent = limits_sent,
};

/* ---- hits --------------------------------------------------------------------------------- */

static void seen(struct target *target, const struct hit *hit)
{
	const struct control_observer *observer = &target->control->observer;

	looked_reached(&target->control->looked, hit->access.tid, hit->access.pc);
	if (observer->hit)
		observer->hit(observer->context, &hit->access);
}

static struct slot *held(struct target *target, struct slot *slot, struct hit *hit)
{
	return target->control->strategy->hit(target, slot, hit);
}

static void visit(struct target *target, const struct slot *slot, const struct hit *hit)
{
	target->control->strategy->visit(target, slot, hit);
}

static void shared(struct target *target, const struct hit *hit, const struct hit *other)
{
	target->control->strategy->shared(target, hit, other);
}

/* The heuristic that a hit is credited to: the period of threads where the slot expects them at
 * equal intervals, else the one that led to the watch. */
static enum heuristic heuristic_of(const struct target *target, const struct slot *slot)
{
	return meeting_waits(target, slot) ? HEURISTIC_COINCIDENCE
					   : choice_of(target, slot)->heuristic;
}

static void pair(struct target *target, const struct slot *slot, struct tl_pair *pair)
{
	const struct control_observer *observer = &target->control->observer;

	aim_pair(target, slot, pair);
	pair->strategy = heuristic_name(heuristic_of(target, slot));
	if (observer->pair)
		observer->pair(observer->context, pair);
	aim_told(target);
}

const struct hit_events control_hit_events = {
	.seen = seen,
	.held = held,
	.visit = visit,
	.shared = shared,
	.pair = pair,
};

/* ---- choosing ----------------------------------------------------------------------------- */

static unsigned interest(struct target *target, uint64_t pc)
{
	const struct control_observer *observer = &target->control->observer;

	return observer->interest ? observer->interest(observer->context, target->pid, pc)
				  : INTEREST_EQUAL;
}

static void unwatched(struct target *target, const struct slot *slot)
{
	const struct control_observer *observer = &target->control->observer;

	if (observer->unwatched)
		observer->unwatched(observer->context, &slot->watch, slot->seen, slot->identities);
}

const struct explorer_events control_explorer_events = {
	.interest = interest,
	.unwatched = unwatched,
};

/* ---- lasting watches, observed processes -------------------------------------------------- */

void control_trace(struct program *program, const struct trace *trace)
{
	const struct control_observer *observer = &program->control->observer;

	if (observer->trace)
		observer->trace(observer->context, trace);
}

const struct observe_events control_observe_events = {
	.hit = trace_tell,
	.thread = notice_thread,
};

/* ---- what programs tell ------------------------------------------------------------------- */

static void notice(struct program *program, const struct notice *notice)
{
	const struct control_observer *observer = &program->control->observer;

	if (observer->notice)
		observer->notice(observer->context, notice);
}

static void guard(struct program *program, const struct guards_notice *notice)
{
	const struct control_observer *observer = &program->control->observer;

	if (observer->guard)
		observer->guard(observer->context, notice);
}

const struct notice_events control_notice_events = {.notice = notice, .guard = guard};

/* ---- what tools place --------------------------------------------------------------------- */

static void placed_hit(struct program *program, unsigned owner, const struct tl_access *access)
{
	const struct control_observer *observer = &program->control->observer;

	if (observer->placed)
		observer->placed(observer->context, owner, access);
}

static void placed_over(struct program *program, unsigned owner, const struct tl_watch *watch,
			unsigned hits, unsigned threads)
{
	const struct control_observer *observer = &program->control->observer;

	if (observer->displaced)
		observer->displaced(observer->context, owner, watch, hits, threads);
}

const struct placed_events control_placed_events = {.hit = placed_hit, .over = placed_over};
