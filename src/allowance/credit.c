/* SPDX-License-Identifier: Apache-2.0 */
#include "allowance/credit.h"

#include <stdatomic.h>
#include <string.h>

#define PARTS_ALL 10000 /* holds may take all of a thread's time */
#define HOLD_MOST                                                                       \
	60000000000ull	     /* ns, for a debugger to come (WATCH_DEBUG_HOLD); whatever \
			      * stands in the area, which the program may scribble on */
#define START_HOLDS 2000000u /* ns of holds of new threads that a process begins with */
#define LANES_MOST 4096u     /* so that no product below overflows */

void credit_reset(const struct area *area, struct area_process *process, uint64_t now)
{
	uint64_t lent = START_HOLDS * 10000ull / area_hold_parts(area);

	memset(process->credit, 0, sizeof(process->credit));
	atomic_store_explicit(&process->newcomers.until, lent < now ? now - lent : 0,
			      memory_order_relaxed);
	atomic_store_explicit(&process->lanes, 1, memory_order_relaxed);
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

struct credit credit_take(struct area *area, struct area_process *process, uint64_t identity,
			  uint64_t now, bool is_new, uint64_t lived, const struct wish *wish)
{
	uint64_t parts = area_hold_parts(area);
	struct credit credit = {0, area_credit_of(process, identity), parts};

	if (parts >= PARTS_ALL)
		return (struct credit){wish->hold < HOLD_MOST ? wish->hold : HOLD_MOST, NULL, 1};
	if (is_new)
		open_account(credit.account, identity, now, lived);
	credit.hold = pay(area, credit.account, parts, now, wish);
	if (credit.hold || !is_new)
		return credit;
	credit.account = &process->newcomers;
	credit.parts = parts * lanes_of(process);
	credit.hold = pay(area, credit.account, credit.parts, now, wish);
	return credit;
}

struct credit credit_owe(struct area *area, struct area_process *process, uint64_t identity,
			 uint64_t now, uint64_t hold)
{
	struct credit credit = {hold, area_credit_of(process, identity), area_hold_parts(area)};

	if (credit.parts >= PARTS_ALL)
		return (struct credit){hold, NULL, 1};
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
}
