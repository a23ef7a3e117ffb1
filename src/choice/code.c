/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way an instruction is chosen: the findings that are aimed at come first, then contended
 * sites, then where sleeping threads go on, then code in use, at random (choice/instruction.c).
 */
#include "choice/code.h"

#include "aim/aim.h"
#include "choice/instruction.h"
#include "usage/background.h"
#include "usage/in_use.h"

#include <stdatomic.h>

/* Shares, each drawn at random: one in so many … */
#define CALM_PROBES 4 /* of the watches in a background thread, one is no probe, */
#define START_PARTS 4 /* of the probes, one is at any instruction, not where a region begins, */
#define LOOK_PARTS 2  /* of the watches of code, one is where a sleeping thread goes on, */
#define FORESEEN_PROBE_PARTS 2 /* of the choices, one may be a probe of what was foreseen. */
/* Where a sleeping thread goes on is watched for 2^LOOK_DOUBLINGS usual windows. */
#define LOOK_DOUBLINGS 3
#define FORESEEN_HOLD (4 * MILLISECOND)
/* In a busy program a hold at a contended site may cost what it took to get a thread there. */
#define CONTENDED_HOLD (2 * MILLISECOND)
#define AIMED_HITS 3
#define ALL_HITS 3

static struct contended_site *choose_contended(struct target *target, contended_filter_fn *filter,
					       unsigned *interest)
{
	struct explorer *explorer = explorer_of(target);
	struct contended_wish wish = {budget_is_scarce(explorer->budget), instruction_interest,
				      filter, target};

	if (is_off(target, HEURISTIC_CONTENDED))
		return NULL;
	return contended_choose(&target->explored->memory.contended, &explorer->program->random,
				&wish, interest);
}

static void fill(struct target *target, uint64_t pc, unsigned hits, uint64_t hold,
		 struct tl_watch *watch)
{
	*watch = (struct tl_watch){
		.size = sizeof(*watch),
		.pid = target->pid,
		.address = pc,
		.length = 8,
		.access = TL_EXEC,
		.hits = hits,
		.hold = hold,
	};
}

/* The thread that was at the site, if it may be held. If it is no background thread, any other that
 * is none will do: threads that often get a CPU are taken to run the same code. */
static const struct thread_rate *thread_for(struct target *target, pid_t tid, uint64_t now)
{
	const struct thread_rate *thread = single_find(target, tid, now);

	if (thread || background_find(target, tid))
		return thread;
	thread = single_choose(target, now);
	return thread && !background_find(target, thread->tid) ? thread : NULL;
}

static bool was_seen(void *context, const struct contended_site *site)
{
	(void)context;
	return site->seen;
}

static bool is_by_known(void *context, const struct contended_site *site)
{
	return site->conflict && single_is_known(context, site->tid);
}

/* A thread that has ended, or is yet to begin, cannot be watched by itself: its like is met only in
 * watches of all threads. */
static bool is_by_stranger(void *context, const struct contended_site *site)
{
	return site->conflict && !single_is_known(context, site->tid);
}

bool code_is_for_all(void *context, const struct contended_site *site)
{
	return site->seen || is_by_stranger(context, site);
}

static bool choose_site_single(struct target *target, contended_filter_fn *filter, uint64_t now,
			       struct code_choice *choice)
{
	unsigned interest;
	struct contended_site *site = choose_contended(target, filter, &interest);
	const struct thread_rate *thread = site ? thread_for(target, site->tid, now) : NULL;

	if (!thread)
		return false;
	site->tries += site->changes > 0;
	choice->thread = *thread;
	choice->heuristic = site->changes ? HEURISTIC_PROBE : HEURISTIC_CONTENDED;
	fill(target, site->pc, 1, single_hold(target, thread), &choice->watch);
	return true;
}

/* A foreseen conflict, where armed slots are dear: a probe tells first whether the memory changes
 * under a held thread, before the address is watched in all threads. */
static bool choose_foreseen_single(struct target *target, uint64_t now, struct code_choice *choice)
{
	if (random_next(&target->program->random) % FORESEEN_PROBE_PARTS ||
	    !choose_site_single(target, is_by_known, now, choice))
		return false;
	choice->heuristic = HEURISTIC_FORESIGHT;
	choice->probe = true;
	return true;
}

static bool choose_aimed_single(struct target *target, uint64_t now, struct code_choice *choice)
{
	pid_t tid = 0;
	uint64_t pc = aim_choose(target, &tid);
	const struct thread_rate *thread;

	if (!pc)
		return false;
	thread = tid ? thread_for(target, tid, now) : single_choose(target, now);
	if (!thread)
		return false;
	choice->thread = *thread;
	choice->heuristic = HEURISTIC_AIM;
	count_one(target->program, COUNT_AIMED);
	fill(target, pc, 1, single_hold(target, thread), &choice->watch);
	return true;
}

bool code_choose_single(struct target *target, uint64_t now, struct code_choice *choice)
{
	struct explorer *explorer = explorer_of(target);
	const struct thread_rate *thread;
	const struct sites *starts;
	uint64_t pc = 0;

	*choice = (struct code_choice){0};
	if (choose_aimed_single(target, now, choice) ||
	    choose_site_single(target, was_seen, now, choice) ||
	    choose_foreseen_single(target, now, choice))
		return true;
	thread = single_choose(target, now);
	if (!thread)
		return false;
	choice->thread = *thread;
	/* A background thread seldom comes by and is waited for long, so that it is worth more than
	 * a probe, which sees neither reads nor stores of what was there: one watch in CALM_PROBES
	 * is none. */
	choice->heuristic = background_find(target, thread->tid) ? HEURISTIC_BACKGROUND
								 : HEURISTIC_CODE;
	choice->probe = !is_off(target, HEURISTIC_PROBE) &&
			(!background_find(target, thread->tid) ||
			 random_next(&explorer->program->random) % CALM_PROBES);
	starts = code_starts(target, thread->tid);
	choice->start = choice->probe && starts->used && !is_off(target, HEURISTIC_START) &&
			random_next(&explorer->program->random) % START_PARTS;
	if (choice->start)
		choice->heuristic = HEURISTIC_START;
	if (choice->start)
		pc = choice->site = sites_draw_sharply(starts, &explorer->program->random);
	else if (!is_off(target, HEURISTIC_CODE))
		pc = instruction_draw(target, code_sites(target, thread->tid), &choice->site);
	fill(target, pc, 1, single_hold(target, thread), &choice->watch);
	return pc;
}

static bool choose_aimed(struct target *target, struct code_choice *choice)
{
	pid_t tid;
	uint64_t pc = aim_choose(target, &tid);

	if (!pc)
		return false;
	*choice = (struct code_choice){.heuristic = HEURISTIC_AIM};
	count_one(target->program, COUNT_AIMED);
	fill(target, pc, AIMED_HITS, CONTENDED_HOLD, &choice->watch);
	return true;
}

static bool choose_site(struct target *target, const struct code_wish *wish,
			struct code_choice *choice)
{
	unsigned interest = 0;
	const struct contended_site *site = choose_contended(target, wish->filter, &interest);
	uint64_t hold = COLD_HOLD;

	if (!site)
		return false;
	if (interest > INTEREST_EQUAL && !explorer_of(target)->budget->sleepy)
		hold = CONTENDED_HOLD;
	*choice = (struct code_choice){.heuristic = HEURISTIC_CONTENDED};
	if (site->conflict && !(wish->met_first && site->seen)) {
		choice->heuristic = HEURISTIC_FORESIGHT;
		choice->doublings = site->vain < FORESEEN_DOUBLINGS ? site->vain
								    : FORESEEN_DOUBLINGS;
		choice->look = !contended_is_met(&target->explored->memory.contended, site);
		hold = FORESEEN_HOLD;
	}
	fill(target, site->pc, ALL_HITS, choice->look ? 0 : hold, &choice->watch);
	return true;
}

/* Where a sleeping thread goes on, to see what it does next. */
static bool choose_wake(struct target *target, struct code_choice *choice)
{
	uint64_t pc;

	if (is_off(target, HEURISTIC_FORESIGHT) || samples_come_first(target) ||
	    random_next(&target->program->random) % LOOK_PARTS)
		return false;
	pc = code_wake(target);
	*choice = (struct code_choice){
		.heuristic = HEURISTIC_FORESIGHT, .look = true, .doublings = LOOK_DOUBLINGS};
	fill(target, pc, ALL_HITS, 0, &choice->watch);
	return pc;
}

bool code_choose(struct target *target, const struct code_wish *wish, struct code_choice *choice)
{
	uint64_t pc;

	if (choose_aimed(target, choice) || choose_site(target, wish, choice) ||
	    (wish->wakes && choose_wake(target, choice)))
		return true;
	if (is_off(target, HEURISTIC_CODE))
		return false;
	*choice = (struct code_choice){.heuristic = HEURISTIC_CODE};
	pc = instruction_draw(target, &target->explored->memory.sites, &choice->site);
	fill(target, pc, ALL_HITS, COLD_HOLD, &choice->watch);
	return pc;
}

bool code_promises_all(struct target *target)
{
	return contended_promises(&target->explored->memory.contended, is_by_stranger, target);
}

void code_armed(struct target *target, const struct slot *slot, const struct code_choice *choice)
{
	choice_of(target, slot)->heuristic = choice->heuristic;
	*code_watch_of(target, slot) = (struct code_watch){.site = choice->site,
							   .start = choice->start,
							   .probes = choice->probe,
							   .lasts = choice->doublings};
}

bool code_is_probe(const struct target *target, const struct slot *slot)
{
	return code_watch_of(target, slot)->probes;
}

void code_tell(struct target *target, const struct slot *slot, bool worth)
{
	const struct code_watch *watch = code_watch_of(target, slot);

	if (watch->site)
		sites_tell(watch->start ? code_starts(target, slot->only)
					: code_sites(target, slot->only),
			   watch->site, worth);
}

void code_unwatched(struct target *target, const struct slot *slot)
{
	bool came = atomic_load(&target->shared->slot[slot->index].hits);

	contended_tell(&target->explored->memory.contended, slot->watch.address, 0, came);

	/* A probe that somebody came to tells its result when the hold ends (probe_end()). */
	if (!(came && code_is_probe(target, slot)))
		code_tell(target, slot, came);
}
