/* SPDX-License-Identifier: Apache-2.0 */
/* What those lose who wait for a thread that is held, by how much less CPU time all of them use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "cost/stall.h"

#define LOOK (100 * MILLISECOND)

struct program {
	struct stall stall;
	struct stall_counts counts;
	uint64_t lost;
};

/* `cpus` in use, and `held_cpus` while a thread is held, which one is `parts` of 1,000 of the time.
 */
static void run(struct program *program, double cpus, double held_cpus, unsigned parts, int looks)
{
	for (int i = 0; i < looks; i++) {
		double held = (double)LOOK * parts / 1000;

		program->counts.now += LOOK;
		program->counts.held += (uint64_t)held;
		program->counts.busy += (uint64_t)(held * held_cpus);
		program->counts.cpu += (uint64_t)(((double)LOOK - held) * cpus + held * held_cpus);
		program->lost += stall_look(&program->stall, &program->counts);
	}
}

static struct program begin(void)
{
	struct program program = {.counts.now = SECOND};

	stall_look(&program.stall, &program.counts);
	return program;
}

static void who_is_held_alone_costs_nobody(void **state)
{
	struct program program = begin();

	(void)state;
	run(&program, 1.9, 1.9, 20, 50); /* others take the CPU */
	assert_in_range(stall_parts(&program.stall), 0, 10);
	assert_in_range(program.lost, 0, MILLISECOND);
}

static void a_program_that_stands_still_loses_all_of_it(void **state)
{
	struct program program = begin();

	(void)state;
	run(&program, 0.8, 0, 40, 100);
	assert_int_equal(stall_parts(&program.stall), STALL_ALL);
	/* 40 ms a second; the first of them tell too little. */
	assert_in_range(program.lost, 380 * MILLISECOND, 400 * MILLISECOND);
}

static void one_of_two_is_half(void **state)
{
	struct program program = begin();

	(void)state;
	run(&program, 2, 1, 20, 100);
	assert_in_range(stall_parts(&program.stall), STALL_ALL / 2 - 10, STALL_ALL / 2 + 10);
}

static void what_hardly_runs_tells_nothing(void **state)
{
	struct program program = begin();

	(void)state;
	run(&program, 0.05, 0, 40, 100);
	assert_int_equal(stall_parts(&program.stall), 0);
}

static void a_phase_that_is_over_is_forgotten(void **state)
{
	struct program program = begin();

	(void)state;
	run(&program, 1, 0, 20, 200);
	run(&program, 1, 1, 20, 400);
	assert_in_range(stall_parts(&program.stall), 0, STALL_ALL / 20);
}

/* Counts stand where the program may write. */
static void counts_that_make_no_sense_do_no_harm(void **state)
{
	struct program program = begin();

	(void)state;
	run(&program, 1, 0, 20, 10);
	program.counts.held = UINT64_MAX;
	program.counts.busy = 0;
	stall_look(&program.stall, &program.counts);
	program.counts.held = 0;
	program.counts.busy = UINT64_MAX;
	stall_look(&program.stall, &program.counts);
	assert_in_range(stall_parts(&program.stall), 0, STALL_ALL);
	assert_in_range(program.lost, 0, SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_held_alone_costs_nobody),
		cmocka_unit_test(a_program_that_stands_still_loses_all_of_it),
		cmocka_unit_test(one_of_two_is_half),
		cmocka_unit_test(what_hardly_runs_tells_nothing),
		cmocka_unit_test(a_phase_that_is_over_is_forgotten),
		cmocka_unit_test(counts_that_make_no_sense_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
