/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that tell of their creation: none is kept waiting by what the controller has forgotten,
 * no record is lost, and what they waited is charged, whatever stands in the area. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/state.h"
#include "process/space.h"
#include "reader/open.h"
#include "team/births.h"
#include "team/watches.h"

#define INDEX 2

static struct bench {
	struct control control;
	struct explorer explorer;
	struct explored explored;
	struct usage usage;
	struct team_loan loan;
	struct budget budget;
	struct target target;
	struct area *area;
} * bench;

static unsigned interest(struct target *target, uint64_t pc)
{
	(void)target, (void)pc;
	return TL_INTEREST_MAX;
}

static const struct explorer_events events = {.interest = interest};

static void open_explorer(struct program *program)
{
	program->explorer = &bench->explorer;
	program->started = clock_now();
	program->options.budget = 1;
	bench->explorer.program = program;
	bench->explorer.events = &events;
	bench->explorer.team_loan = &bench->loan;
	bench->explorer.budget = &bench->budget;
	bench->explored.usage = &bench->usage;
}

static int set_up(void **state)
{
	struct program *program;
	struct target *target;

	(void)state;
	bench = calloc(1, sizeof(*bench));
	bench->area = calloc(1, sizeof(*bench->area));
	program = &bench->control.program;
	program->area = bench->area;
	open_explorer(program);
	target = program->target[INDEX] = &bench->target;
	target->program = program;
	target->control = &bench->control;
	target->index = INDEX;
	target->pid = getpid();
	target->shared = &bench->area->process[INDEX];
	target->explored = &bench->explored;
	assert_int_equal(symbol_session_open(&program->session, NULL), 0);
	assert_int_equal(space_open(&target->space, program->session, getpid()), 0);
	births_begin(target);
	assert_int_equal(target->shared->newborn.wish, AREA_BIRTHS_ASKED);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	births_end(&bench->target);
	team_watches_end(&bench->target);
	space_close(bench->target.space);
	symbol_session_close(bench->control.program.session);
	free(bench->area);
	free(bench);
	return 0;
}

/* Of a thread that waits, or has gone on by itself 5 ms later. */
static struct area_hit *tell(uint32_t kind, uint64_t entry, bool gone_on)
{
	uint64_t ticket;
	struct area_hit *record = area_hit_claim(bench->area, INDEX, &ticket);

	assert_non_null(record);
	record->entry_time = entry;
	record->flags = kind;
	record->registers.pc = (uintptr_t)abort;
	area_hit_publish(record, ticket);
	if (gone_on)
		area_hit_leave(record, ticket, entry + 5 * MILLISECOND);
	return record;
}

static bool is_free(const struct area_hit *record)
{
	return area_hit_state(record->state) == AREA_HIT_FREE;
}

static uint64_t count_of(enum count count)
{
	return bench->control.program.count[count];
}

static void who_went_on_unseen_is_charged_and_counted(void **state)
{
	const struct area_hit *record = tell(AREA_HIT_NEWBORN, clock_now(), true);

	(void)state;
	births_collect(&bench->control.program);
	assert_true(is_free(record));
	assert_int_equal(bench->loan.lent, 5 * MILLISECOND);
	assert_int_equal(count_of(COUNT_BIRTHS_PASSED), 1);
	assert_int_equal(count_of(COUNT_BIRTHS), 0);
}

static void no_time_in_the_area_lends_more_than_a_wait(void **state)
{
	(void)state;
	tell(AREA_HIT_NEWBORN, UINT64_MAX - 5, true);
	tell(AREA_HIT_CREATOR, UINT64_MAX - 5, false);
	tell(AREA_HIT_BIRTH, 0, false);
	births_collect(&bench->control.program);
	births_end(&bench->target);
	assert_in_range(bench->loan.lent, 0, 3 * (uint64_t)AREA_BIRTH_WAIT + MILLISECOND);
}

static void nobody_waits_where_nobody_may_be_held(void **state)
{
	const struct area_hit *record = tell(AREA_HIT_NEWBORN, clock_now(), false);

	(void)state;
	bench->target.debugged = true;
	births_collect(&bench->control.program);
	assert_true(is_free(record));
	assert_int_equal(bench->target.shared->answered, 1);
	assert_int_equal(count_of(COUNT_BIRTHS_PASSED), 1);
	births_run(&bench->target, clock_now());
	assert_int_equal(bench->target.shared->newborn.wish, AREA_BIRTHS_NOT_NOW);
}

static void nobody_waits_where_nothing_may_be_watched(void **state)
{
	const struct area_hit *record = tell(AREA_HIT_NEWBORN, clock_now(), false);

	(void)state;
	bench->budget.paused_until = UINT64_MAX;
	births_collect(&bench->control.program);
	assert_true(is_free(record));
	assert_int_equal(count_of(COUNT_BIRTHS_PASSED), 1);
	births_run(&bench->target, clock_now());
	assert_int_equal(bench->target.shared->newborn.wish, AREA_BIRTHS_NOT_NOW);
	bench->budget.paused_until = 0;
	births_run(&bench->target, clock_now());
	assert_int_equal(bench->target.shared->newborn.wish, AREA_BIRTHS_ASKED);
}

static void a_new_thread_waits_until_it_is_left_alone(void **state)
{
	const struct area_hit *record = tell(AREA_HIT_NEWBORN, clock_now(), false);

	(void)state;
	births_collect(&bench->control.program);
	births_collect(&bench->control.program);
	assert_int_equal(count_of(COUNT_BIRTHS), 1);
	assert_false(is_free(record));
	/* Its creator has not come yet. */
	births_run(&bench->target, clock_now() + BIRTH_ALONE);
	assert_false(is_free(record));
	tell(AREA_HIT_CREATOR, clock_now(), false);
	births_collect(&bench->control.program);
	assert_int_equal(births_next(&bench->target) <= clock_now() + BIRTH_ALONE, true);
	births_run(&bench->target, clock_now() + BIRTH_ALONE);
	assert_true(is_free(record));
	assert_int_equal(births_next(&bench->target), UINT64_MAX);
}

static void nobody_is_left_waiting_where_watching_ends(void **state)
{
	const struct area_hit *met = tell(AREA_HIT_NEWBORN, clock_now(), false), *late, *gone;

	(void)state;
	births_collect(&bench->control.program);
	births_end(&bench->target);
	assert_true(is_free(met));
	assert_int_equal(bench->target.shared->newborn.wish, AREA_BIRTHS_NEVER);
	/* Their threads had looked whether to tell before that. */
	late = tell(AREA_HIT_NEWBORN, clock_now(), false);
	gone = tell(AREA_HIT_CREATOR, clock_now(), true);
	births_collect(&bench->control.program);
	assert_true(is_free(late) && is_free(gone));
}

static void no_more_than_a_few_are_kept(void **state)
{
	unsigned waiting = 0;

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		tell(AREA_HIT_NEWBORN, clock_now(), false);
	births_collect(&bench->control.program);
	for (unsigned i = 0; i < AREA_HITS; i++)
		waiting += !is_free(&bench->area->hit[i]);
	assert_in_range(waiting, 0, 8);
}

static volatile int object;

static void touch(void)
{
	object = 1;
}

/* No threads' numbers. */
#define ENDED 0x7ffffff0
#define ANOTHER 0x7ffffff1

/* A thread that is about to write the object. */
static struct area_hit *tell_of_touch(uint32_t kind, uint64_t entry, pid_t tid)
{
	static uint64_t stack[64];
	uint64_t ticket;
	struct area_hit *record = area_hit_claim(bench->area, INDEX, &ticket);

	assert_non_null(record);
	record->entry_time = entry;
	record->tid = tid;
	record->flags = kind;
	record->registers.pc = (uintptr_t)touch;
	record->registers.general[insn_arch.stack_pointer] = (uintptr_t)&stack[32];
	area_hit_publish(record, ticket);
	return record;
}

/* Lets a new thread go that had nobody to wait for. */
static void let_pass(pid_t tid)
{
	const struct area_hit *record = tell_of_touch(AREA_HIT_NEWBORN, clock_now(), tid);

	births_collect(&bench->control.program);
	births_run(&bench->target, clock_now() + AREA_BIRTH_WAIT);
	assert_true(is_free(record));
}

/* Takes a thread that comes behind it. */
static uint64_t met_by(uint32_t kind, pid_t tid)
{
	tell_of_touch(kind, clock_now(), tid);
	births_collect(&bench->control.program);
	return count_of(COUNT_BIRTHS_MET);
}

static void who_went_on_a_moment_ago_is_compared(void **state)
{
	(void)state;
	let_pass(getpid());
	assert_int_equal(met_by(AREA_HIT_NEWBORN, ANOTHER), 1);
}

static void who_has_ended_is_not(void **state)
{
	(void)state;
	let_pass(ENDED);
	assert_int_equal(met_by(AREA_HIT_NEWBORN, ANOTHER), 0);
}

static void who_creates_another_is_not_compared_with_itself(void **state)
{
	(void)state;
	let_pass(getpid());
	assert_int_equal(met_by(AREA_HIT_CREATOR, getpid()), 0);
}

static void who_was_not_looked_at_is_not_taken_for_another(void **state)
{
	(void)state;
	let_pass(ENDED);
	bench->target.debugged = true;
	let_pass(getpid());
	assert_int_equal(count_of(COUNT_BIRTHS), 1);
	bench->target.debugged = false;
	assert_int_equal(met_by(AREA_HIT_NEWBORN, ANOTHER), 0);
}

static void others_that_come_lengthen_no_wait(void **state)
{
	(void)state;
	tell(AREA_HIT_NEWBORN, clock_now() - AREA_BIRTH_WAIT, false);
	tell(AREA_HIT_CREATOR, clock_now(), false);
	births_collect(&bench->control.program);
	assert_true(births_next(&bench->target) <= clock_now());
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(who_went_on_unseen_is_charged_and_counted),
		TEST(no_time_in_the_area_lends_more_than_a_wait),
		TEST(nobody_waits_where_nothing_may_be_watched),
		TEST(nobody_waits_where_nobody_may_be_held),
		TEST(a_new_thread_waits_until_it_is_left_alone),
		TEST(nobody_is_left_waiting_where_watching_ends),
		TEST(no_more_than_a_few_are_kept),
		TEST(who_went_on_a_moment_ago_is_compared),
		TEST(who_has_ended_is_not),
		TEST(who_creates_another_is_not_compared_with_itself),
		TEST(who_was_not_looked_at_is_not_taken_for_another),
		TEST(others_that_come_lengthen_no_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
