/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/care.h"

#include "agent/state.h"
#include "base/random.h"
#include "base/syscall.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#define PART 2u		   /* one part in so many of the program's own time may be spent */
#define LOAN_STEP 5000000u /* ns */
#define TOOK_MOST 5000u	   /* ns; a longer time includes another thread's on this CPU */
#define ODDS(kept, patterns) ((uint64_t)(kept) << 32 | (patterns))

static _Atomic uint64_t spent;	/* ns, by this process */
static _Atomic uint64_t loaned; /* ns, to this process */
static _Atomic uint64_t odds_now = ODDS(CARE_CERTAIN, CARE_CERTAIN);

/* Odds that fall in a line from CARE_CERTAIN at `from` to none at `to`. */
static uint32_t falling(uint64_t at, uint64_t from, uint64_t to)
{
	if (at <= from)
		return CARE_CERTAIN;
	if (at >= to)
		return 0;
	/* A larger span would overflow the product. */
	if (to - from > UINT32_MAX)
		return (uint32_t)((to - at) / ((to - from) / CARE_CERTAIN));
	return (uint32_t)((to - at) * CARE_CERTAIN / (to - from));
}

struct care_odds care_odds(uint64_t spent_so_far, uint64_t allowed)
{
	return (struct care_odds){
		.kept = falling(spent_so_far, allowed / 4, allowed / 4 * 3),
		.patterns = falling(spent_so_far, allowed / 4 * 3, allowed),
	};
}

enum care care_drawn(struct care_odds odds, uint32_t drawn)
{
	if (drawn < odds.kept)
		return CARE_KEPT;
	return drawn < odds.patterns ? CARE_PATTERNS : CARE_NONE;
}

uint64_t care_own(uint64_t used, uint64_t handling)
{
	uint64_t most = used / 8 * 7;

	return used - (handling < most ? handling : most);
}

static uint64_t used_by_process(void)
{
	struct timespec used = {0};

	raw_syscall3(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&used, 0);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Takes a step of the loan that all processes share. Accepted: while a process that is refused
 * gives its step back, another one may be refused as well; it asks again with its next look. */
static bool is_lent_step(struct area *area)
{
	uint64_t before =
		atomic_fetch_add_explicit(&area->guard.care_lent, LOAN_STEP, memory_order_relaxed);

	if (before + LOAN_STEP <= area->guard.loan)
		return true;
	atomic_fetch_sub_explicit(&area->guard.care_lent, LOAN_STEP, memory_order_relaxed);
	return false;
}

/* The ns that this process is lent so far. Before less is done for blocks it takes further steps of
 * the loan, as long as there are any. */
static uint64_t borrow(struct area *area, uint64_t earned, uint64_t so_far)
{
	uint64_t lent = atomic_load_explicit(&loaned, memory_order_relaxed);

	while (so_far > (earned + lent) / 4 && is_lent_step(area))
		lent = atomic_fetch_add_explicit(&loaned, LOAN_STEP, memory_order_relaxed) +
		       LOAN_STEP;
	return lent;
}

static void look_again(struct area *area, uint64_t handling)
{
	uint64_t so_far = atomic_load_explicit(&spent, memory_order_relaxed);
	uint64_t earned = care_own(used_by_process(), handling) / PART;
	struct care_odds odds = care_odds(so_far, earned + borrow(area, earned, so_far));

	atomic_store_explicit(&odds_now, ODDS(odds.kept, odds.patterns), memory_order_relaxed);
}

enum care care_of_next(struct area *area, uint64_t handling)
{
	static __thread struct random random __attribute__((tls_model("initial-exec")));
	static __thread uint32_t turn __attribute__((tls_model("initial-exec")));
	uint64_t odds;

	if (turn++ % CARE_EACH == 0)
		look_again(area, handling);
	odds = atomic_load_explicit(&odds_now, memory_order_relaxed);
	if (odds == ODDS(CARE_CERTAIN, CARE_CERTAIN))
		return CARE_KEPT;
	if (!random.state)
		random.state = agent_now() ^ (uintptr_t)&random;
	return care_drawn((struct care_odds){(uint32_t)(odds >> 32), (uint32_t)odds},
			  (uint32_t)(random_next(&random) % CARE_CERTAIN));
}

void care_pay(uint64_t took)
{
	atomic_fetch_add_explicit(&spent, (took < TOOK_MOST ? took : TOOK_MOST) * CARE_EACH,
				  memory_order_relaxed);
}

/* A forked child's CPU clock begins at zero again. */
void care_begin(void)
{
	atomic_store(&spent, 0);
	atomic_store(&loaned, 0);
	atomic_store(&odds_now, ODDS(CARE_CERTAIN, CARE_CERTAIN));
}
