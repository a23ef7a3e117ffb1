/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching one thread at a time, where armed slots are dear. Code is watched in single threads, for
 * as long as that costs them little; an address in all of them, while one is held that is about to
 * access it, or now and then, as the budget allows.
 */
#include "choice/arming.h"
#include "choice/requests.h"
#include "strategy/explored.h"
#include "strategy/strategies.h"
#include "usage/background.h"

#define LOOK_INTERVAL (4 * SECOND) /* probes tell more (probe.c) */
#define FORESIGHT_PARTS 16	   /* the same */
#define WINDOW (2 * MILLISECOND)   /* of a watch of all threads */
/* One part in so many of the budget's income goes to watches of code in all threads; more of it
 * where conflicts were foreseen with threads that no watch of a single one meets; … */
#define ALL_PARTS 8
#define ALL_PARTS_PROMISED 2
/* … and besides, the same part of what the bucket holds, spread over so many seconds. */
#define ALL_SECONDS 10.0
/* Between two watches of addresses that a tool asked for. */
#define REQUEST_INTERVAL (500 * MILLISECOND)
/* A watch of all threads, made while one is held, ends so long before that hold does; takes so many
 * hits at most; and who comes by meanwhile is held so long. */
#define MARGIN (MILLISECOND / 5)
#define HITS 6
#define HOLD (MILLISECOND / 10)
#define SINGLE_COST 200000ull /* ns of CPU time that an armed slot may take of a single thread */
#define SINGLE_WINDOW_MAX (250 * MILLISECOND)

static uint64_t single_window(const struct target *target, const struct thread_rate *thread)
{
	double price = thread->rate * target_wakeup_price(target);
	double window = (double)(SINGLE_COST * SECOND) / (price + 1);

	return window > (double)SINGLE_WINDOW_MAX ? SINGLE_WINDOW_MAX : (uint64_t)window;
}

static void arm_single(struct target *target, struct slot *slot, uint64_t now)
{
	struct code_choice code;

	if (!code_choose_single(target, now, &code))
		return;
	code.watch.window = single_window(target, &code.thread);
	if (slot_arm_in(target, slot, &code.watch, &code.thread) == 0)
		code_armed(target, slot, &code);
}

/*
 * Is it time for a watch of code in all threads? Each thread that comes by is held, so that two are
 * seen at once whose accesses lie nearer to each other than arming a second slot takes, and stores
 * that leave the value as it was, which a probe does not see. What such a watch is expected to cost
 * decides when the next may be: ALL_PARTS.
 */
static bool is_turn_of_all(const struct explorer *explorer, struct target *target, uint64_t now)
{
	double cost = (double)(target->arm_time + 3 * explorer->budget->prices.hit) +
		      target->wakeups.rate * target_wakeup_price(target) * (double)WINDOW /
			      (double)SECOND;
	double left = explorer->budget->bucket.tokens > 0
			      ? (double)explorer->budget->bucket.tokens / ALL_SECONDS
			      : 0;
	double parts = ALL_PARTS;

	if (now < target->explored->turns->next_all)
		return false;
	if (code_promises_all(target))
		parts = ALL_PARTS_PROMISED;
	target->explored->turns->next_all = now + (uint64_t)(cost * parts * (double)SECOND /
							     (explorer->budget->income + left + 1));
	return true;
}

/* All slots but the last watch code; the last watches the addresses that code hits lead to, and now
 * and then a sampled one. */
static void arm_next(struct explorer *explorer, struct target *target, struct slot *slot,
		     uint64_t now)
{
	static const struct code_wish for_all = {.filter = code_is_for_all, .met_first = true};
	struct tl_watch watch;

	if (is_for_code(target, slot)) {
		if (is_turn_of_all(explorer, target, now))
			arm_code(target, slot, &for_all, WINDOW, 0);
		else
			arm_single(target, slot, now);
		return;
	}
	if (budget_is_scarce(explorer->budget) || now < target->explored->turns->next_request)
		return;
	if (!request_take(explorer, target, &watch))
		return;
	target->explored->turns->next_request = now + REQUEST_INTERVAL;
	watch.widen = false;
	watch.access = TL_READ | TL_WRITE;
	watch.window = WINDOW;
	slot_arm(target, slot, &watch);
	choice_of(target, slot)->heuristic = HEURISTIC_SAMPLE;
}

/* When a single thread may be held again. */
static uint64_t due(const struct target *target, const struct slot *slot)
{
	return is_for_code(target, slot) && may_watch(explorer_of(target), clock_now())
		       ? single_next(target)
		       : UINT64_MAX;
}

/* The watch lasts as long as the hold of the thread that led to it. */
static void shorten(struct target *target, struct tl_watch *watch)
{
	(void)target;
	watch->widen = false;
	watch->hits = HITS;
	watch->hold = HOLD;
	watch->window = WINDOW; /* until armed() says how long the hold lasts */
}

/* Of a finding aimed at, the watch outlasts the hold: a thread that waited for a lock of the held
 * one comes right behind it, which counts as a chance of the two to meet. */
static void end_with_hold(struct target *target, const struct slot *slot, struct slot *data,
			  const struct hit *hit)
{
	uint64_t end = hit->entry + slot->watch.hold;

	data->deadline = choice_of(target, slot)->heuristic == HEURISTIC_AIM ? end + WINDOW
									     : end - MARGIN;
}

const struct manner manner_singly = {
	.arm = arm_next,
	.due = due,
	.suit = shorten,
	.armed = end_with_hold,
	.look_interval = LOOK_INTERVAL,
	.foresight_parts = FORESIGHT_PARTS,
};
