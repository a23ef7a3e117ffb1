/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/credit.h"

#include <stdatomic.h>
#include <string.h>

#define PARTS_ALL 10000 /* holds may take all of a thread's time */
#define HOLD_MOST                                                                       \
	60000000000ull	     /* ns, for a debugger to come (WATCH_DEBUG_HOLD); whatever \
			      * stands in the area, which the program may scribble on */
#define START_HOLDS 2000000u /* ns of holds of new threads that a process begins with */
#define LANES_MOST 4096u     /* so that no product below overflows */
#define STALL_ALL 10000u     /* parts of a hold: all others wait */

void credit_reset(const struct area *area, struct area_process *process, uint64_t now)
{
	uint64_t lent = START_HOLDS * 10000ull / area_hold_parts(area);

	memset(process->credit, 0, sizeof(process->credit));
	atomic_store_explicit(&process->newcomers.until, lent < now ? now - lent : 0,
			      memory_order_relaxed);
	atomic_store_explicit(&process->lanes, 1, memory_order_relaxed);
	area_stall_reset(area, process, now);
}

bool credit_is_new(struct area_process *process, uint64_t identity)
{
	struct area_credit *account = area_credit_of(process, identity);

	return atomic_load_explicit(&account->owner, memory_order_relaxed) != identity;
}

/* Threads that share an account by its hash take turns to own it: it never earns more than one of
 * them would, since what was paid stays paid. */
static void open_account(struct area_credit *account, uint64_t identity, uint64_t now,
			 uint64_t lived)
{
	uint64_t until = atomic_load_explicit(&account->until, memory_order_relaxed);
	uint64_t born = lived < now ? now - lived : 0;

	atomic_store_explicit(&account->owner, identity, memory_order_relaxed);
	if (until < born)
		atomic_store_explicit(&account->until, born, memory_order_relaxed);
}

/* Two threads that pay at the same moment from one account: one of them is not held. */
static uint64_t pay(const struct area *area, struct area_credit *account, uint64_t parts,
		    uint64_t now, const struct wish *wish)
{
	uint64_t hold = wish->hold < HOLD_MOST ? wish->hold : HOLD_MOST;
	uint64_t until = atomic_load_explicit(&account->until, memory_order_relaxed);
	uint64_t from = until + area->credit_cap < now ? now - area->credit_cap : until;
	uint64_t saved = from < now ? (now - from) * parts / 10000 : 0;

	saved = saved > wish->reserve ? saved - wish->reserve : 0;
	if (hold > saved)
		hold = saved;
	if (hold < wish->least || hold < CREDIT_LEAST)
		return 0;
	return atomic_compare_exchange_strong(&account->until, &until, from + hold * 10000 / parts)
		       ? hold
		       : 0;
}

static uint64_t lanes_of(const struct area_process *process)
{
	uint64_t lanes = atomic_load_explicit(&process->lanes, memory_order_relaxed);

	return lanes < 1 ? 1 : lanes < LANES_MOST ? lanes : LANES_MOST;
}

/* What was saved up for longer than that is forgotten. */
static uint64_t paid_up_to(uint64_t until, uint64_t now)
{
	return until + AREA_STALL_SAVED < now ? now - AREA_STALL_SAVED : until;
}

/* How much longer than this nobody may wait for who is held. */
static uint64_t bearable(const struct credit *credit, uint64_t now, uint64_t hold)
{
	uint64_t from, most;

	if (!credit->stall)
		return hold;
	from = paid_up_to(atomic_load_explicit(&credit->waiting->until, memory_order_relaxed), now);
	most = from < now ? (now - from) * credit->share / credit->stall : 0;
	return hold < most ? hold : most;
}

/* Each of several threads that pay at the same moment is charged. */
static void charge_waiting(const struct credit *credit, uint64_t now)
{
	uint64_t until, cost;

	if (!credit->stall || !credit->hold)
		return;
	cost = credit->hold * credit->stall / credit->share;
	until = atomic_load_explicit(&credit->waiting->until, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&credit->waiting->until, &until,
					     paid_up_to(until, now) + cost))
		;
}

static struct credit credit_begin(const struct area *area, struct area_process *process,
				  uint64_t identity)
{
	uint64_t parts = area_hold_parts(area);
	uint64_t stall = atomic_load_explicit(&process->stall, memory_order_relaxed);

	return (struct credit){.account = area_credit_of(process, identity),
			       .parts = parts,
			       .waiting = &process->waiting,
			       .stall = stall < STALL_ALL ? stall : STALL_ALL,
			       .share = parts};
}

struct credit credit_take(struct area *area, struct area_process *process, uint64_t identity,
			  uint64_t now, bool is_new, uint64_t lived, const struct wish *wish)
{
	struct credit credit = credit_begin(area, process, identity);
	struct wish bearable_wish = *wish;

	if (credit.parts >= PARTS_ALL)
		return (struct credit){.hold = wish->hold < HOLD_MOST ? wish->hold : HOLD_MOST};
	bearable_wish.hold = bearable(&credit, now, wish->hold);
	if (is_new)
		open_account(credit.account, identity, now, lived);
	credit.hold = pay(area, credit.account, credit.parts, now, &bearable_wish);
	if (!credit.hold && is_new) {
		credit.account = &process->newcomers;
		credit.parts *= lanes_of(process);
		credit.hold = pay(area, credit.account, credit.parts, now, &bearable_wish);
	}
	charge_waiting(&credit, now);
	return credit;
}

struct credit credit_owe(struct area *area, struct area_process *process, uint64_t identity,
			 uint64_t now, uint64_t hold)
{
	struct credit credit = {.hold = hold,
				.account = area_credit_of(process, identity),
				.parts = area_hold_parts(area)};

	if (credit.parts >= PARTS_ALL)
		return (struct credit){.hold = hold};
	if (credit_is_new(process, identity))
		open_account(credit.account, identity, now, 0);
	atomic_fetch_add_explicit(&credit.account->until, hold * 10000 / credit.parts,
				  memory_order_relaxed);
	return credit;
}

void credit_settle(const struct credit *credit, int64_t excess)
{
	if (credit->account)
		atomic_fetch_add_explicit(&credit->account->until,
					  (uint64_t)(excess * 10000 / (int64_t)credit->parts),
					  memory_order_relaxed);
	if (credit->stall)
		atomic_fetch_add_explicit(
			&credit->waiting->until,
			(uint64_t)(excess * (int64_t)credit->stall / (int64_t)credit->share),
			memory_order_relaxed);
}
