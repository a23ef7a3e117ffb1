/* SPDX-License-Identifier: Apache-2.0 */
#include "team/births.h"

#include "base/clock.h"
#include "choice/arming.h"
#include "notice/notice.h"
#include "process/stat_file.h"
#include "sample/ahead.h"
#include "team/runtime.h"
#include "team/watches.h"
#include "usage/in_use.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Hits of the watch of a place that two threads or more come to, to read it and then write it.
 * Holds there end as two threads meet. */
#define PLACE_HITS 24
#define WAITING_MOST 6 /* new threads that are kept waiting at a time, while no two conflict */
/* ns that a creator is expected which has not told of itself yet: where many threads want the CPUs
 * it gets one late. A little less than a new thread waits by itself. */
#define CREATOR_WAIT (AREA_BIRTH_WAIT - MILLISECOND)

#define LOOK_TIME (2 * MILLISECOND) /* ahead of a thread, which waits meanwhile */
/* More than these, and as many creators, no library tells of: what says so is another's writing. */
#define LOOKED_MOST (2 * AREA_ROUTINES * AREA_BIRTHS_TOLD)

#define GONE_MOST 4 /* new threads that are remembered after they went on */

/* A thread that waits until its record is taken back. */
struct newcomer {
	unsigned record;
	pid_t tid;
	bool created;	/* the thread is a creator */
	uint64_t state; /* of the record: no later use of it is this thread's */
	uint64_t since; /* CLOCK_MONOTONIC ns, by its own word, not later than when it was seen */
	struct ahead_view view;
};

/* What is kept of a process. */
struct births {
	/* The last place is for one that has just come. */
	struct newcomer waiting[WAITING_MOST + 1];
	unsigned count;
	struct newcomer gone[GONE_MOST]; /* siblings may come later than these could wait */
	unsigned goings;
	bool expects;	   /* the last creator that told was about to create another */
	uint64_t last;	   /* when one came, CLOCK_MONOTONIC ns */
	unsigned creators; /* creators that have not told of themselves yet, as far as is known */
	unsigned looked;   /* threads looked ahead from, in all */
};

/* May threads be held now? Not while the budget is overspent, nor after --duration, as for
 * everything that a strategy arms. */
static bool may_hold(const struct target *target, uint64_t now)
{
	return team_may_hold(target) && may_watch(explorer_of(target), now);
}

static uint32_t wish_of(const struct target *target, uint64_t now)
{
	return may_hold(target, now) ? AREA_BIRTHS_ASKED : AREA_BIRTHS_NOT_NOW;
}

void births_begin(struct target *target)
{
	if (is_off(target, HEURISTIC_BIRTH) || !team_watches_begin(target))
		return;
	target->explored->births = calloc(1, sizeof(struct births));
	if (!target->explored->births)
		return;
	explorer_of(target)->team_loan->births = true;
	atomic_store(&target->shared->newborn.wish, wish_of(target, clock_now()));
}

/* ---- who waits ----------------------------------------------------------------------------- */

/* Acquire: what the thread wrote before publishing. Pairs with area_hit_publish(). */
static uint64_t state_of(const struct area_hit *record)
{
	return atomic_load_explicit(&record->state, memory_order_acquire);
}

/* Where its thread has gone on by itself the record is taken by take_record(), or has been, and may
 * be of another use by now. */
static void let_go(struct target *target, unsigned index)
{
	struct births *births = target->explored->births;
	struct newcomer *one = &births->waiting[index];
	uint64_t now = clock_now();

	if (state_of(&target->program->area->hit[one->record]) == one->state)
		area_hit_take(&target->program->area->hit[one->record]);
	team_lend(target, now - one->since);
	if (!one->created)
		births->gone[births->goings++ % GONE_MOST] = *one;
	births->count--;
	if (index != births->count)
		*one = births->waiting[births->count];
}

static void let_all_go(struct target *target)
{
	while (target->explored->births->count)
		let_go(target, 0);
	notice_answer(target->program, target->index);
}

/* Lets all go that wait: the process may live on. */
void births_end(struct target *target)
{
	if (!target->explored->births)
		return;
	atomic_store(&target->shared->newborn.wish, AREA_BIRTHS_NEVER);
	let_all_go(target);
	free(target->explored->births);
	target->explored->births = NULL;
}

static bool is_known(const struct births *births, unsigned record, uint64_t state)
{
	for (unsigned i = 0; i < births->count; i++)
		if (births->waiting[i].record == record && births->waiting[i].state == state)
			return true;
	return false;
}

/* ---- who comes ------------------------------------------------------------------------------ */

/* Drops accesses by code that the tool does not want looked at, and to memory that no other thread
 * can access. */
static void sift(struct target *target, struct ahead_view *view)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < view->accesses; i++)
		if (code_is_interesting(target, view->access[i].pc) &&
		    team_may_share(target->space, &view->access[i]))
			view->access[kept++] = view->access[i];
	view->accesses = kept;
}

static void look(struct target *target, const struct area_hit *copy, struct ahead_view *view)
{
	bool created = copy->flags & AREA_HIT_CREATOR;
	const struct ahead_start from = {.registers = hit_registers(&copy->registers),
					 .known = created ? AHEAD_RETURNED : AHEAD_NEWBORN,
					 .returns = created,
					 .awake = true,
					 .time = LOOK_TIME,
					 .whole = true};

	ahead_tour(target->space, &from, TOUR, view);
	sift(target, view);
	count_one(target->program, COUNT_LOOKS_AHEAD);
	if (view->cut)
		count_one(target->program, COUNT_BIRTHS_CUT);
}

/* May a thread that went on a moment ago still be running, so that none has joined it? Not meant is
 * the one that came last itself, as a creator now. */
static bool is_on_its_way(const struct target *target, const struct newcomer *gone,
			  const struct newcomer *last)
{
	return gone->tid && gone->tid != last->tid &&
	       clock_now() - gone->since < 2 * (uint64_t)AREA_BIRTH_WAIT &&
	       stat_file_number(target->pid, gone->tid, STAT_STARTTIME);
}

/* Finds the places where the thread that came last will conflict with one that waits, or with one
 * that has gone on. Returns how many. */
static unsigned compare(const struct target *target, struct team_place places[static PLACES_MOST])
{
	const struct births *births = target->explored->births;
	const struct newcomer *last = &births->waiting[births->count - 1];
	unsigned count = 0;

	for (unsigned i = 0; i + 1 < births->count && !count; i++)
		count = team_places(&births->waiting[i].view, &last->view, places, PLACES_MOST);
	for (unsigned i = 0; i < GONE_MOST && !count; i++)
		if (is_on_its_way(target, &births->gone[i], last))
			count = team_places(&births->gone[i].view, &last->view, places,
					    PLACES_MOST);
	return count;
}

/* The last one to come has been looked ahead from. New threads wait on only as long as another may
 * be created: not where their creator is about to wait for somebody itself. */
static void answer(struct target *target, bool created)
{
	struct births *births = target->explored->births;
	const struct ahead_view *view = &births->waiting[births->count - 1].view;
	struct team_place places[PLACES_MOST];
	unsigned count = compare(target, places);

	if (created)
		births->expects = view->creates;
	if (count) {
		count_one(target->program, COUNT_BIRTHS_MET);
		team_watch_places(target, HEURISTIC_BIRTH, PLACE_HITS, places, count);
		let_all_go(target);
	} else if (created && view->waits && !view->creates && !view->cut) {
		let_all_go(target);
	} else if (created || births->count > WAITING_MOST) {
		let_go(target, created ? births->count - 1 : 0);
		notice_answer(target->program, target->index);
	}
}

static void come(struct target *target, unsigned record, uint64_t state)
{
	static struct area_hit copy; /* one thread; large */
	struct births *births = target->explored->births;
	struct newcomer *one = &births->waiting[births->count];
	uint64_t now = clock_now();

	area_hit_copy(&copy, &target->program->area->hit[record]);
	one->record = record;
	one->state = state;
	one->tid = copy.tid;
	one->created = copy.flags & AREA_HIT_CREATOR;
	one->view.accesses = 0; /* of another thread, until it is looked ahead from this one */
	one->since = copy.entry_time < now ? copy.entry_time : now;
	if (now - one->since > AREA_BIRTH_WAIT)
		one->since = now - AREA_BIRTH_WAIT;
	births->count++;
	births->last = now;
	if (!one->created)
		births->creators++;
	else if (births->creators)
		births->creators--;
	if (!may_hold(target, now) || births->looked >= LOOKED_MOST) {
		count_one(target->program, COUNT_BIRTHS_PASSED);
		let_all_go(target);
		return;
	}
	/* What these run, and in which order, the runtime tells them later: team.c sees it. */
	if (team_is_runtime(target->space, copy.registers.pc)) {
		count_one(target->program, COUNT_BIRTHS_PASSED);
		let_go(target, births->count - 1);
		notice_answer(target->program, target->index);
		return;
	}
	count_one(target->program, COUNT_BIRTHS);
	births->looked++;
	look(target, &copy, &one->view);
	answer(target, one->created);
}

/* What waits no longer, or for nobody: of a thread that went on by itself before it was met, which
 * is charged for that, or of a process that is not asked any more. One of those that wait in
 * `births` is charged when it is let go. */
static void forget(struct program *program, struct area_hit *record, uint32_t owner, bool was_met)
{
	bool is_over = area_hit_state(state_of(record)) == AREA_HIT_DONE;
	uint64_t held =
		(is_over ? atomic_load(&record->exit_time) : clock_now()) - record->entry_time;

	if (!was_met) {
		count_one(program, COUNT_BIRTHS_PASSED);
		program->explorer->team_loan->lent += held < AREA_BIRTH_WAIT ? held
									     : AREA_BIRTH_WAIT;
	}
	if (area_hit_take(record))
		notice_answer(program, owner);
}

static void take_record(struct program *program, unsigned index)
{
	struct area_hit *record = &program->area->hit[index];
	uint64_t state = state_of(record), held = (state & ~(uint64_t)0xff) | AREA_HIT_HELD;
	uint32_t owner = area_hit_owner(state);
	struct target *target = owner < AREA_PROCESSES ? program->target[owner] : NULL;
	struct births *births = target && target->explored ? target->explored->births : NULL;
	bool was_met = births && is_known(births, index, held);

	if (area_hit_state(state) == AREA_HIT_LEAVING)
		return; /* its record comes again when it is done */
	if (state != held || !births)
		forget(program, record, owner, was_met);
	else if (!was_met)
		come(target, index, state);
}

/* The kind of thread that waits by this record, or has gone on by itself; 0: it is no thread's. */
static uint32_t kind_of(const struct area_hit *record)
{
	enum area_hit_state state = area_hit_state(state_of(record));

	return state == AREA_HIT_HELD || state == AREA_HIT_DONE ? record->flags & AREA_HIT_BIRTH
								: 0;
}

static void take_newborns(struct program *program)
{
	for (unsigned i = 0; i < AREA_HITS; i++)
		if (kind_of(&program->area->hit[i]) == AREA_HIT_NEWBORN)
			take_record(program, i);
}

/* A new thread tells before its creator does: creators that were seen to have told are taken after
 * the new threads that were seen later. */
void births_collect(struct program *program)
{
	unsigned creator[AREA_HITS], creators = 0;

	if (!program->explorer->team_loan->births)
		return;
	for (unsigned i = 0; i < AREA_HITS; i++) {
		uint32_t kind = kind_of(&program->area->hit[i]);

		if (kind == AREA_HIT_NEWBORN)
			take_record(program, i);
		else if (kind)
			creator[creators++] = i;
	}
	if (creators)
		take_newborns(program);
	for (unsigned i = 0; i < creators; i++)
		take_record(program, creator[i]);
}

/* ---- in time -------------------------------------------------------------------------------- */

/* Stops expecting a creator, which may have had no record left to tell with. */
static void stop_expecting(struct births *births, uint64_t now)
{
	if (!births->count && now - births->last > CREATOR_WAIT) {
		births->creators = 0;
		births->expects = false;
	}
}

/* Others may come again and again: no thread waits by itself to the end for that. */
static uint64_t wait_until(const struct births *births, const struct newcomer *one)
{
	uint64_t most = one->since + CREATOR_WAIT, alone = births->last + BIRTH_ALONE;

	return births->creators || births->expects || alone > most ? most : alone;
}

static void let_go_who_waited(struct target *target, uint64_t now)
{
	struct births *births = target->explored->births;
	unsigned count = births->count;

	for (unsigned i = births->count; i; i--)
		if (now >= wait_until(births, &births->waiting[i - 1]))
			let_go(target, i - 1);
	if (births->count == count)
		return;
	notice_answer(target->program, target->index);
	if (!births->count)
		births->creators = 0;
}

void births_run(struct target *target, uint64_t now)
{
	uint32_t wish;

	if (!target->explored->births)
		return;
	let_go_who_waited(target, now);
	stop_expecting(target->explored->births, now);
	wish = wish_of(target, now);
	if (atomic_load_explicit(&target->shared->newborn.wish, memory_order_relaxed) != wish)
		atomic_store(&target->shared->newborn.wish, wish);
}

uint64_t births_next(const struct target *target)
{
	const struct births *births = target->explored->births;
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; births && i < births->count; i++)
		if (wait_until(births, &births->waiting[i]) < next)
			next = wait_until(births, &births->waiting[i]);
	return next;
}
