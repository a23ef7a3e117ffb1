/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/choose.h"

#include "agent/state.h"
#include "base/random.h"
#include "base/syscall.h"
#include "base/uncounted.h"
#include "guard/care.h"
#include "guard/guard.h"
#include "guard/own.h"
#include "guard/site.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

_Static_assert(CHOOSE_CELLS == 1u << (64 - 54), "choose_cell() takes so many bits");

#define CONTEXTS 8192u /* known at a time; a power of two */
#define CONTEXT_WAYS 4u
#define MEAN_MOST (1u << 24) /* allocations passed for each one chosen, on average */
#define SELDOM 4	     /* times guard.often, after which a context passes half as many */
#define CREDIT 2000000u	     /* ns of guarding that a process may save up, … */
#define TOLD_DEBT 25000000u  /* of which this much for births that are told */
#define TOLD_PRICE 60000u    /* ns: what telling a birth costs outside; of a free it is half */
#define TOOK_MOST 150000u    /* ns; a thread may be scheduled away, not for its block */
#define WITHOUT_WATCH 4096   /* allocations until a process that is not watched looks again */
#define BEHIND_EACH 4u	     /* blocks of a context, of which one stands behind an empty page */
/* Where every block is guarded: */
#define WHOLE_FIRST 4u	  /* blocks of a context that is new are whole */
#define TOLD_FIRST 64u	  /* blocks of it are told: one of many may go another way */
#define WHOLE_GROWTH 8u	  /* then one after about so manieth of those before */
#define SELDOM_MOST 256u  /* blocks of a context until it is no longer a rare one */
#define LEFT_OUT_PASS 16u /* allocations at a place where one was left out, which are not shown */

struct context {
	_Atomic uint64_t key;  /* 0: free */
	_Atomic uint64_t last; /* CLOCK_MONOTONIC ns when it was last chosen */
	_Atomic uint32_t mean;
	_Atomic uint32_t times; /* chosen */
	_Atomic uint32_t next;	/* where every block is guarded: `times` of the next whole one */
};

__thread struct choose_lane *choose_lane __attribute__((tls_model("initial-exec")));

static UNCOUNTED struct choose_lane lanes[CHOOSE_LANES];
UNCOUNT(lanes);
static _Atomic uint32_t lanes_taken;
static UNCOUNTED struct context contexts[CONTEXTS];
UNCOUNT(contexts);
/* ns by earning_clock(): all is paid for then; and when that was last read. */
static _Atomic uint64_t paid_until, earning_seen;
static _Atomic uint32_t certain_seen;
static bool is_fit;

/* ---- chance --------------------------------------------------------------------------------- */

static uint32_t draw(uint32_t mean)
{
	static __thread struct random random __attribute__((tls_model("initial-exec")));

	if (!random.state)
		random.state = agent_now() ^ (uintptr_t)&random;
	return (uint32_t)(random_next(&random) % (2ull * mean + 1));
}

/* ---- what is known of places ---------------------------------------------------------------- */

/* Of those in a place that are all taken, the one that was chosen longest ago is forgotten. */
static struct context *find_context(uint64_t key, bool *is_new)
{
	uint32_t first = (uint32_t)(key % CONTEXTS) / CONTEXT_WAYS * CONTEXT_WAYS;
	struct context *oldest = &contexts[first];

	*is_new = false;
	for (uint32_t i = first; i < first + CONTEXT_WAYS; i++) {
		uint64_t seen = atomic_load_explicit(&contexts[i].key, memory_order_relaxed);

		if (seen == key)
			return &contexts[i];
		if (atomic_load_explicit(&contexts[i].last, memory_order_relaxed) <
		    atomic_load_explicit(&oldest->last, memory_order_relaxed))
			oldest = &contexts[i];
	}
	*is_new = true;
	atomic_store_explicit(&oldest->key, key, memory_order_relaxed);
	atomic_store_explicit(&oldest->mean, 0, memory_order_relaxed);
	atomic_store_explicit(&oldest->times, 0, memory_order_relaxed);
	atomic_store_explicit(&oldest->next, 0, memory_order_relaxed);
	return oldest;
}

/* ---- what it may cost ----------------------------------------------------------------------- */

/*
 * The clock by which time is earned. It is the wall's, which is read in no time. Where every block
 * is guarded most of the time is ours, and on a busy machine the program waits for a CPU: what
 * it has used itself is what may be doubled. Under a filter nobody asks the kernel.
 */
static uint64_t earning_clock(const struct area *area)
{
	struct timespec now = {0};

	if (!area->guard.all || agent_state.quiet)
		return agent_now();
	raw_syscall3(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The time that pays for `took` ns of guarding. */
static uint64_t earns(const struct area *area, uint64_t took)
{
	uint32_t parts = __atomic_load_n(&area->guard.parts, __ATOMIC_RELAXED);

	return parts ? took * 10000 / parts : 0;
}

/* Of all processes together, ns of guarding that were lent and are not paid for. */
static uint64_t lent(const struct area *area, uint64_t now)
{
	uint64_t until = atomic_load_explicit(&area->guard.lent_until, memory_order_relaxed);

	return until < now ? 0 : (until - now) / 10000 * area->guard.parts;
}

static void lend(struct area *area, uint64_t now, uint64_t took)
{
	uint64_t until = atomic_load_explicit(&area->guard.lent_until, memory_order_relaxed);

	if (until < now)
		atomic_compare_exchange_strong_explicit(&area->guard.lent_until, &until, now,
							memory_order_relaxed, memory_order_relaxed);
	atomic_fetch_add_explicit(&area->guard.lent_until, earns(area, took), memory_order_relaxed);
}

/*
 * What has just been done, with what that costs outside. The time that it took earns nothing: with
 * a large budget the program would else hardly come to what it does itself. Where every block is
 * guarded nothing is owed for what each has, only for what is `more`: pages, and what is told.
 */
static void pay(struct area *area, struct area_process *process, const struct choose_bill *bill,
		uint64_t outside, bool more)
{
	uint64_t now = agent_now(), took = now - bill->begun, earning, cost;
	uint64_t paid = atomic_load_explicit(&paid_until, memory_order_relaxed);

	if (took > TOOK_MOST)
		took = TOOK_MOST;
	if (!bill->earning)
		took *= CARE_EACH;
	atomic_fetch_add_explicit(&process->handling, took, memory_order_relaxed);
	if (area->guard.all && !more) {
		atomic_fetch_add_explicit(&paid_until, took, memory_order_relaxed);
		return;
	}
	cost = took + outside;
	earning = earning_clock(area);
	atomic_fetch_add_explicit(&paid_until, earning - bill->earning + earns(area, cost),
				  memory_order_relaxed);
	atomic_store_explicit(&earning_seen, earning, memory_order_relaxed);
	if (paid > earning)
		lend(area, now, cost);
}

/* ns of guarding that are not paid for. */
static uint64_t debt(const struct area *area, uint64_t earning)
{
	uint64_t paid = atomic_load_explicit(&paid_until, memory_order_relaxed);
	uint64_t credit = earns(area, CREDIT);

	if (paid + credit < earning)
		atomic_store_explicit(&paid_until, earning - credit, memory_order_relaxed);
	return paid < earning ? 0
			      : (paid - earning) / 10000 *
					__atomic_load_n(&area->guard.parts, __ATOMIC_RELAXED);
}

/* May a process owe as much, when there is reason for a loan? */
static bool is_lent(const struct area *area, uint64_t now, uint64_t owed, uint64_t most)
{
	return owed < most && lent(area, now) < area->guard.loan;
}

/* ---- choosing ------------------------------------------------------------------------------- */

static bool is_certain(struct area_process *process, const struct allocation_caller *caller,
		       const struct site *site)
{
	for (unsigned i = 0; i < GUARD_CERTAIN; i++) {
		struct guard_context *context = &process->guard.certain[i];
		uint64_t named = atomic_load_explicit(&context->caller, memory_order_relaxed);
		uint64_t above = atomic_load_explicit(&context->above, memory_order_relaxed);

		/* They are named one after another, and stay. */
		if (!named)
			break;
		if (named != caller->pc)
			continue;
		/* Until the site is split it is all of its callers. */
		if (!above || !site_is_split(site) ||
		    site_key(caller, site) == site_mix(caller->pc, above) ||
		    site_key(caller, site) == site_mix(caller->pc, 0))
			return true;
	}
	return false;
}

/*
 * Where every block is guarded, what passes a cell unseen is counted as left out before it comes:
 * as many of these will not pass, since the cell is forgotten or another place's now. Accepted: a
 * process that is killed, or goes on as another program, has counted some that never came.
 */
static void give_back(uint64_t left)
{
	struct area_process *process = agent_state.process;
	uint64_t counted, rest;

	if (!left || !process)
		return;
	counted = atomic_load_explicit(&process->guard.left_out, memory_order_relaxed);
	do
		rest = counted > left ? counted - left : 0;
	while (!atomic_compare_exchange_weak_explicit(&process->guard.left_out, &counted, rest,
						      memory_order_relaxed, memory_order_relaxed));
}

/* Of the cell, how many were counted before they come. */
static uint64_t counted_ahead(const struct choose_cell *cell)
{
	const struct area *area = agent_state.area;

	return area && area->guard.all && cell->left > 0 && (uint32_t)cell->left <= LEFT_OUT_PASS
		       ? (uint64_t)cell->left
		       : 0;
}

/* The others are zeros still: whoever writes to them has the kernel find memory for them. */
static uint32_t used_lanes(void)
{
	uint32_t taken = atomic_load_explicit(&lanes_taken, memory_order_relaxed);

	return taken < CHOOSE_LANES ? taken : CHOOSE_LANES;
}

static void forget_cells(void)
{
	uint32_t used = used_lanes();
	uint64_t left = 0;

	for (uint32_t i = 0; i < used; i++)
		for (uint32_t j = 0; j < CHOOSE_CELLS; j++) {
			struct choose_cell *cell = &lanes[i].cell[j];

			if (!cell->place && !cell->left)
				continue;
			left += counted_ahead(cell);
			*cell = (struct choose_cell){0};
		}
	give_back(left);
}

/* The controller has named contexts: counts of before do not hold them back. */
static void follow_certain(struct area_process *process)
{
	uint32_t changed = atomic_load_explicit(&process->guard.changed, memory_order_acquire);

	if (atomic_exchange_explicit(&certain_seen, changed, memory_order_relaxed) != changed)
		forget_cells();
}

/* What lies before an empty page is a block's end, or behind one its start. Most errors are at the
 * end; a context whose blocks all stood there would never show what reaches far before one. */
static bool is_behind(uint32_t times)
{
	return times % BEHIND_EACH == 1;
}

static bool is_turn(const struct area *area, struct context *context, bool is_new,
		    struct choose_decision *decision)
{
	uint64_t now = decision->bill.begun, owed = debt(area, decision->bill.earning);
	uint64_t often = area->guard.often;
	uint64_t last = atomic_load_explicit(&context->last, memory_order_relaxed);
	uint32_t mean = atomic_load_explicit(&context->mean, memory_order_relaxed);
	uint32_t times = atomic_load_explicit(&context->times, memory_order_relaxed);
	bool chosen = !owed || (times < 4 && is_lent(area, now, owed, area->guard.loan));

	if (!chosen || (!is_new && now - last < often))
		mean = mean < MEAN_MOST ? 2 * mean + 1 : MEAN_MOST;
	else if (now - last > SELDOM * often)
		mean /= 2;
	atomic_store_explicit(&context->mean, mean, memory_order_relaxed);
	if (!chosen)
		return false;
	atomic_store_explicit(&context->last, now, memory_order_relaxed);
	atomic_store_explicit(&context->times, times + 1, memory_order_relaxed);
	decision->seldom = times < SELDOM_MOST;
	decision->behind = is_behind(times);
	decision->told = !owed || (is_new && is_lent(area, now, owed, TOLD_DEBT));
	return true;
}

/* A lane that is given to somebody for the first time is all zeros, or what another left. */
static void take_lane(void)
{
	own_begin_thread();
	choose_lane = &lanes[atomic_fetch_add_explicit(&lanes_taken, 1, memory_order_relaxed) %
			     CHOOSE_LANES];
}

static void set_cell(uint64_t place, uint32_t left)
{
	struct choose_cell *cell = choose_cell(choose_lane, place);

	give_back(counted_ahead(cell));
	*cell = (struct choose_cell){.place = (uint32_t)place, .left = (int32_t)left};
}

static bool is_due_below(uint64_t key)
{
	struct choose_cell *cell = choose_cell(choose_lane, key);

	return cell->place != (uint32_t)key || --cell->left < 0;
}

/* Of a context with evidence all are guarded; what more there is, is a matter of the budget. */
static void choose_more(struct area *area, struct choose_decision *decision)
{
	uint64_t owed = debt(area, decision->bill.earning);

	decision->pages |= is_lent(area, decision->bill.begun, owed, area->guard.loan);
	decision->told =
		area->guard.births &&
		(decision->told || is_lent(area, decision->bill.begun, owed, TOLD_DEBT / 4));
}

/* ---- where every block is guarded ----------------------------------------------------------- */

/* Which of a context's blocks are looked at further: the first ones, and then fewer and fewer, so
 * that they are some hundred of a context that allocates a hundred thousand times. */
static bool is_candidate(struct context *context, uint32_t times)
{
	if (times < atomic_load_explicit(&context->next, memory_order_relaxed))
		return false;
	atomic_store_explicit(&context->next, times + 1 + draw(times / WHOLE_GROWTH),
			      memory_order_relaxed);
	return true;
}

/* One more of what a run has so many of. */
static bool take_one(_Atomic uint32_t *count, uint32_t most)
{
	return atomic_load_explicit(count, memory_order_relaxed) < most &&
	       atomic_fetch_add_explicit(count, 1, memory_order_relaxed) < most;
}

/* Those that pass now are not seen: they are counted with the one that is. */
static void leave_out(struct area_process *process, uint64_t place)
{
	set_cell(place, LEFT_OUT_PASS);
	atomic_fetch_add_explicit(&process->guard.left_out, LEFT_OUT_PASS + 1,
				  memory_order_relaxed);
}

/* Has leave_out() counted this one? choose_is_due() has counted it down: it is here because its old
 * block had to be looked at. */
static bool is_left_out(uint64_t place)
{
	const struct choose_cell *cell = choose_cell(choose_lane, place);

	return cell->place == (uint32_t)place && cell->left >= 0 &&
	       (uint32_t)cell->left < LEFT_OUT_PASS;
}

/* Of one that is to have patterns alone. False: it is not even to have these. */
static bool care_for(struct area *area, const struct area_process *process, bool is_busy,
		     struct choose_decision *decision)
{
	enum care care = CARE_KEPT;

	if (is_busy)
		care = care_of_next(area,
				    atomic_load_explicit(&process->handling, memory_order_relaxed));
	decision->unkept = care == CARE_PATTERNS;
	return care != CARE_NONE;
}

static bool choose_all(struct area *area, const struct area_process *process, bool certain,
		       struct choose_decision *decision)
{
	bool is_new, candidate, told;
	struct context *context = find_context(decision->context, &is_new);
	uint32_t times = atomic_fetch_add_explicit(&context->times, 1, memory_order_relaxed);

	candidate = is_candidate(context, times);
	told = area->guard.births && times < TOLD_FIRST &&
	       take_one(&area->guard.tolds, area->guard.told);
	decision->pages = take_one(&area->guard.pageds, area->guard.paged);
	decision->seldom = times < SELDOM_MOST;
	if (!certain && !candidate && !told) {
		choose_begin_bill(&decision->bill, false);
		return care_for(area, process, !decision->seldom && !decision->pages, decision);
	}
	choose_begin_bill(&decision->bill, true);
	atomic_store_explicit(&context->last, decision->bill.begun, memory_order_relaxed);
	/* The first ones are whole whatever that costs, as long as the run has any left; of a
	 * context with evidence, and of the others, as the budget allows. */
	decision->whole = times < WHOLE_FIRST && take_one(&area->guard.wholes, area->guard.whole);
	decision->told = told || (decision->whole && area->guard.births);
	if (decision->whole)
		decision->pages = true;
	else if (certain || candidate)
		choose_more(area, decision);
	decision->behind = is_behind(times);
	return true;
}

static bool look_at_each(struct area *area, struct area_process *process,
			 const struct allocation_caller *caller, struct site *site,
			 struct choose_decision *decision)
{
	bool certain = is_certain(process, caller, site), seen = site_is_seen(site);
	uint64_t place;

	if (seen && !site_is_split(site))
		decision->context = site_key_of_other(caller, site);
	place = seen ? decision->context : caller->pc;
	if (!certain && !seen && is_left_out(place))
		return false;
	set_cell(caller->pc, 0);
	if (!certain && seen && !is_due_below(place))
		return false;
	set_cell(place, 0);
	if (choose_all(area, process, certain, decision))
		return true;
	leave_out(process, place);
	return false;
}

/* What comes before the process has an entry is counted nowhere: choose_begin() forgets the cells.
 */
static void pass_unwatched(const struct area *area, struct area_process *process, uint64_t place)
{
	if (!area || !process || !area->guard.on || !area->guard.all || area_is_closed(area))
		set_cell(place, WITHOUT_WATCH);
	else if (!is_left_out(place))
		leave_out(process, place);
}

bool choose(const struct allocation_caller *caller, struct choose_decision *decision)
{
	struct area_process *process = agent_state.process;
	struct area *area = agent_state.area;
	struct context *context;
	struct site *site;
	bool is_new, chosen, certain;

	if (!choose_lane) {
		take_lane();
		(void)choose_is_due((const void *)(uintptr_t)caller->pc);
	}
	/* Of a controller that has gone nobody would be told what became of a block. */
	if (!area || !process || area_is_closed(area) || guard_is_quiet() ||
	    agent_is_late(process) || !area->guard.on || !is_fit) {
		pass_unwatched(area, process, caller->pc);
		return false;
	}
	site = site_find(caller->pc);
	decision->context = site_key(caller, site);
	decision->told = decision->whole = decision->behind = decision->unkept = false;
	decision->pages = decision->seldom = true;
	follow_certain(process);
	if (area->guard.all)
		return look_at_each(area, process, caller, site, decision);
	certain = is_certain(process, caller, site);
	if (site_is_split(site) && !is_due_below(decision->context))
		return false;
	choose_begin_bill(&decision->bill, true);
	context = find_context(decision->context, &is_new);
	chosen = is_turn(area, context, is_new, decision);
	if (certain) {
		choose_more(area, decision);
		set_cell(caller->pc, 0);
		return true;
	}
	decision->told = decision->told && area->guard.births;
	/* All that a split site's callers do is looked at. */
	set_cell(caller->pc, 0);
	set_cell(site_is_split(site) ? decision->context : caller->pc,
		 draw(atomic_load_explicit(&context->mean, memory_order_relaxed)));
	if (!chosen)
		atomic_fetch_add_explicit(&process->guard.passed, 1, memory_order_relaxed);
	return chosen;
}

void choose_note_left_out(void)
{
	struct area_process *process = agent_state.process;

	if (process && agent_state.area->guard.all && !guard_is_quiet())
		atomic_fetch_add_explicit(&process->guard.left_out, 1, memory_order_relaxed);
}

/* Of one with patterns alone. */
static void pay_care(const struct choose_bill *bill, bool pages)
{
	if (bill->begun && !bill->earning && !pages)
		care_pay(agent_now() - bill->begun);
}

void choose_pay(const struct allocation_caller *caller, const struct choose_decision *decision,
		const struct allocation_event *event)
{
	struct area_process *process = agent_state.process;

	if (!process || guard_is_quiet())
		return;
	if (event)
		site_learn(caller, event);
	pay_care(&decision->bill, decision->pages);
	if (decision->bill.begun)
		pay(agent_state.area, process, &decision->bill, decision->told ? TOLD_PRICE : 0,
		    !decision->whole && decision->bill.earning);
}

bool choose_affords(void)
{
	const struct area *area = agent_state.area;

	return area && is_lent(area, agent_now(), debt(area, earning_clock(area)), TOLD_DEBT);
}

/* Of what each block has where every one is guarded, few are measured: two looks at the clock take
 * a tenth of the time that the rest takes. */
static bool is_measured(void)
{
	static __thread uint32_t turn __attribute__((tls_model("initial-exec")));

	return ++turn % CARE_EACH == 0;
}

void choose_begin_bill(struct choose_bill *bill, bool more)
{
	const struct area *area = agent_state.area;

	more = more || !area->guard.all;
	bill->begun = more || is_measured() ? agent_now() : 0;
	bill->earning = more ? earning_clock(area) : 0;
}

void choose_pay_release(const struct choose_bill *bill, bool told, bool pages)
{
	if (!agent_state.process || guard_is_quiet() || !bill->begun)
		return;
	pay_care(bill, pages);
	pay(agent_state.area, agent_state.process, bill, told ? TOLD_PRICE / 2 : 0,
	    bill->earning && (told || pages));
}

void choose_end(void)
{
	const struct area *area = agent_state.area;

	if (area && area->guard.all)
		forget_cells();
}

void choose_begin(bool fit)
{
	uint64_t paid = atomic_load(&paid_until), seen = atomic_load(&earning_seen);
	uint64_t earning = earning_clock(agent_state.area);

	/* What the parent has counted, or nobody. */
	memset(lanes, 0, used_lanes() * sizeof(lanes[0]));
	is_fit = fit;
	care_begin();
	/* A forked child goes on with what its parent owed, by a clock of its own. */
	atomic_store(&paid_until, earning + (paid > seen ? paid - seen : 0));
	atomic_store(&earning_seen, earning);
}
