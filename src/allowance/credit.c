/* SPDX-License-Identifier: Apache-2.0 */
#include "allowance/credit.h"

#include "record/delay.h"

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

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The longest hold that `saved` ns pay for, and its cost; 0 where they pay for none. */
static void suit(struct credit *credit, uint64_t saved, const struct wish *wish)
{
	uint64_t least = larger(wish->least, CREDIT_LEAST);
	uint64_t hold = smaller(smaller(wish->hold, HOLD_MOST), saved);

	if (hold < least)
		return;
	least = smaller(larger(least, wish->whole), hold);
	hold = delay_longest_hold(hold, least, saved, credit->wakes);
	credit->cost = delay_of_hold(hold, credit->wakes);
	if (credit->cost > saved)
		credit->cost = larger(credit->most / 2, hold);
	if (credit->cost <= saved)
		credit->hold = hold;
}

/* Two threads that pay at the same moment from one account: one of them is not held. */
static void pay(const struct area *area, struct credit *credit, uint64_t now,
		const struct wish *wish)
{
	struct area_credit *account = credit->account;
	uint64_t until = atomic_load_explicit(&account->until, memory_order_relaxed);
	uint64_t from = until + area->credit_cap < now ? now - area->credit_cap : until;
	uint64_t saved = from < now ? (now - from) * credit->parts / 10000 : 0;

	suit(credit, saved > wish->reserve ? saved - wish->reserve : 0, wish);
	if (credit->hold &&
	    !atomic_compare_exchange_strong(&account->until, &until,
					    from + credit->cost * 10000 / credit->parts))
		credit->hold = 0;
}

static uint64_t lanes_of(const struct area_process *process)
{
	uint64_t lanes = atomic_load_explicit(&process->lanes, memory_order_relaxed);

	return lanes < 1 ? 1 : lanes < LANES_MOST ? lanes : LANES_MOST;
}

static void set_parts(struct credit *credit, const struct area *area, uint64_t parts)
{
	credit->parts = parts;
	credit->most = area->credit_cap / 10000 * parts;
}

static struct credit account_of(const struct area *area, struct area_process *process,
				uint64_t identity)
{
	struct area_credit *account = area_credit_of(process, identity);
	struct credit credit = {
		.account = account,
		.wakes = atomic_load_explicit(&account->wakes, memory_order_relaxed),
	};

	set_parts(&credit, area, area_hold_parts(area));
	return credit;
}

struct credit credit_take(struct area *area, struct area_process *process, uint64_t identity,
			  uint64_t now, bool is_new, uint64_t lived, const struct wish *wish)
{
	struct credit credit = account_of(area, process, identity);

	if (credit.parts >= PARTS_ALL)
		return (struct credit){.hold = smaller(wish->hold, HOLD_MOST), .parts = 1};
	if (is_new)
		open_account(credit.account, identity, now, lived);
	pay(area, &credit, now, wish);
	if (credit.hold || !is_new)
		return credit;
	credit.account = &process->newcomers;
	set_parts(&credit, area, credit.parts * lanes_of(process));
	pay(area, &credit, now, wish);
	return credit;
}

struct credit credit_owe(struct area *area, struct area_process *process, uint64_t identity,
			 uint64_t now, uint64_t hold)
{
	struct credit credit = account_of(area, process, identity);

	if (credit.parts >= PARTS_ALL)
		return (struct credit){.hold = hold, .parts = 1};
	if (credit_is_new(process, identity))
		open_account(credit.account, identity, now, 0);
	credit.hold = hold;
	credit.cost = smaller(delay_of_hold(hold, credit.wakes), larger(credit.most / 2, hold));
	atomic_fetch_add_explicit(&credit.account->until, credit.cost * 10000 / credit.parts,
				  memory_order_relaxed);
	return credit;
}

/* For --stats: what it did to the thread, and to work that came to it in as much of it as was
 * meant: where the thread merely got no CPU, its work would have waited for that, too. */
static void note_hold(struct area_process *process, const struct credit *credit, uint64_t held)
{
	uint64_t longest = atomic_load_explicit(&process->longest, memory_order_relaxed);
	uint64_t meant = smaller(held, credit->hold);

	while (held > longest && !atomic_compare_exchange_weak(&process->longest, &longest, held))
		;
	atomic_fetch_add_explicit(&process->queued, delay_of_hold(meant, credit->wakes) - meant,
				  memory_order_relaxed);
	if (credit->account)
		atomic_fetch_add_explicit(&credit->account->held, held, memory_order_relaxed);
}

/* What a hold delays by ending late costs no more than half of what can be saved up, or by how much
 * it is late, if that is more: where the CPUs are wanted by many all threads wake late, whoever
 * holds them. A thread that was stopped meanwhile (SIGSTOP) pays for HOLD_MOST. */
void credit_settle(struct area_process *process, const struct credit *credit, uint64_t held)
{
	uint64_t late, cost, most = credit->cost;
	int64_t excess;

	note_hold(process, credit, held);
	if (!credit->account)
		return;
	held = smaller(held, HOLD_MOST);
	late = held > credit->hold ? held - credit->hold : 0;
	cost = delay_of_hold(held, credit->wakes);
	if (late)
		most += larger(credit->most / 2, late);
	excess = (int64_t)smaller(cost, most) - (int64_t)credit->cost;
	atomic_fetch_add_explicit(&credit->account->until,
				  (uint64_t)(excess * 10000 / (int64_t)credit->parts),
				  memory_order_relaxed);
}
