/* SPDX-License-Identifier: Apache-2.0 */
/* When threads that come at equal intervals are expected to meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <trapline/event.h>

#include "history/period.h"

#define MS 1000000ull

static void visit(struct periods *periods, uint64_t identity, uint64_t time, unsigned access)
{
	period_visit(periods, &(struct visit){identity, time, time, access});
}

/* Visits of one thread: four, the last one of them at `last`. */
static void come(struct periods *periods, uint64_t identity, uint64_t length, uint64_t last,
		 unsigned access)
{
	for (int i = 3; i >= 0; i--)
		visit(periods, identity, last - (uint64_t)i * length, access);
}

static void two_that_come_shortly_after_each_other_meet(void **state)
{
	struct periods periods = {0};
	struct coincidence coincidence;

	(void)state;
	come(&periods, 1, 200 * MS, 1000 * MS, TL_WRITE);
	come(&periods, 2, 170 * MS, 1033 * MS, TL_READ);
	coincidence = period_coincidence(&periods, 1034 * MS);
	assert_true(coincidence.periodic);
	/* At 1200 and 1203. */
	assert_in_range(coincidence.from, 1198 * MS, 1200 * MS);
	assert_in_range(coincidence.until, 1203 * MS, 1205 * MS);
	assert_true(coincidence.until - coincidence.from <= HOLD_LONGEST);
}

static void far_apart_they_do_not_but_are_known(void **state)
{
	struct periods periods = {0};
	struct coincidence coincidence;

	(void)state;
	come(&periods, 1, 200 * MS, 1000 * MS, TL_WRITE);
	come(&periods, 2, 200 * MS, 1090 * MS, TL_READ);
	coincidence = period_coincidence(&periods, 1091 * MS);
	assert_true(coincidence.periodic);
	assert_int_equal(coincidence.until, 0);
}

static void readers_alone_do_not_conflict(void **state)
{
	struct periods periods = {0};

	(void)state;
	come(&periods, 1, 200 * MS, 1000 * MS, TL_READ);
	come(&periods, 2, 200 * MS, 1002 * MS, TL_READ);
	assert_false(period_coincidence(&periods, 1003 * MS).periodic);
	come(&periods, 3, 200 * MS, 1202 * MS, TL_READ | TL_WRITE);
	assert_true(period_coincidence(&periods, 1203 * MS).periodic);
}

static void who_comes_now_and_then_is_not_foretold(void **state)
{
	static const uint64_t times[] = {100, 290, 370, 610, 680, 1000};
	struct periods periods = {0};

	(void)state;
	come(&periods, 1, 200 * MS, 1000 * MS, TL_WRITE);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		visit(&periods, 2, times[i] * MS, TL_READ);
	assert_false(period_coincidence(&periods, 1001 * MS).periodic);
}

/* Several accesses of one visit are one; what is too frequent is no periods. */
static void visits_are_told_from_accesses(void **state)
{
	struct periods periods = {0};

	(void)state;
	for (uint64_t round = 1; round <= 4; round++)
		for (uint64_t i = 0; i < 5; i++) {
			visit(&periods, 1, 200 * round * MS + i * MS / 20, TL_READ);
			visit(&periods, 2, 200 * round * MS + 2 * MS + i * MS / 20, TL_WRITE);
		}
	assert_true(period_coincidence(&periods, 803 * MS).periodic);
	for (uint64_t i = 0; i < 50; i++) {
		visit(&periods, 3, 700 * MS + 2 * i * MS, TL_READ);
		visit(&periods, 4, 700 * MS + 2 * i * MS, TL_WRITE);
	}
	for (unsigned i = 0; i < PERIODS; i++)
		assert_true(periods.thread[i].identity < 3 || !periods.thread[i].confirmed);
}

/* Of a thread that comes all the time only some visits are seen: by chance two such times are
 * equal, but not again and again. */
static void visits_seen_by_chance_are_no_rhythm(void **state)
{
	uint64_t random = 1, time = 0;
	unsigned periodic = 0;
	struct periods periods = {0};

	(void)state;
	for (int i = 0; i < 10000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		time += 20 * MS + (random >> 33) % (300 * MS);
		visit(&periods, 1 + (random >> 20) % 2, time, TL_WRITE);
		periodic += period_coincidence(&periods, time + MS).periodic;
	}
	assert_in_range(periodic, 0, 100);
}

/* Around the shortest length that counts, and the longest. */
static void what_is_nearly_too_frequent_foretells_what_it_can(void **state)
{
	static const uint64_t bounds[] = {20 * MS, 4000 * MS};

	(void)state;
	for (uint64_t i = 0; i < 2 * 2 * 1000; i++) {
		uint64_t bound = bounds[i % 2], step = bound / 1000, time = 0;
		struct periods periods = {0};

		for (uint64_t n = 1; n < 20; n++) {
			time += bound - step * (i / 4 % 40) + step * (i * n % 50);
			visit(&periods, 1, time, TL_WRITE);
			visit(&periods, 2, time + MS / 2, TL_READ);
			assert_true(period_coincidence(&periods, time + MS).until <=
				    time + 2 * bound);
		}
	}
}

/* From the end of a hold on its time begins anew; a gap changes when, not how often. */
static void holds_and_gaps_shift_it(void **state)
{
	struct periods periods = {0};
	struct coincidence coincidence;

	(void)state;
	come(&periods, 1, 200 * MS, 1000 * MS, TL_WRITE);
	period_visit(&periods, &(struct visit){1, 1200 * MS, 1206 * MS, TL_WRITE});
	come(&periods, 2, 170 * MS, 1236 * MS, TL_READ);
	coincidence = period_coincidence(&periods, 1237 * MS);
	assert_in_range(coincidence.from, 1404 * MS, 1406 * MS);
	visit(&periods, 1, 4608 * MS, TL_WRITE);
	visit(&periods, 2, 4639 * MS, TL_READ);
	coincidence = period_coincidence(&periods, 4640 * MS);
	assert_in_range(coincidence.from, 4806 * MS, 4808 * MS);
	assert_in_range(coincidence.until, 4809 * MS, 4811 * MS);
}

/* Who was not seen for long may have ended. */
static void what_was_long_ago_foretells_nothing(void **state)
{
	struct periods periods = {0};

	(void)state;
	come(&periods, 1, 100 * MS, 1000 * MS, TL_WRITE);
	come(&periods, 2, 100 * MS, 1001 * MS, TL_READ);
	assert_true(period_coincidence(&periods, 1500 * MS).periodic);
	assert_false(period_coincidence(&periods, 5000 * MS).periodic);
}

/* More threads than are remembered: those that came last are. */
static void the_oldest_is_forgotten(void **state)
{
	struct periods periods = {0};

	(void)state;
	for (uint64_t i = 1; i <= 3 * PERIODS; i++)
		come(&periods, i, 100 * MS, 1000 * MS + i * MS, TL_WRITE);
	assert_true(period_coincidence(&periods, 1030 * MS).periodic);
	for (unsigned i = 0; i < PERIODS; i++)
		assert_true(periods.thread[i].identity > 2 * PERIODS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_that_come_shortly_after_each_other_meet),
		cmocka_unit_test(far_apart_they_do_not_but_are_known),
		cmocka_unit_test(readers_alone_do_not_conflict),
		cmocka_unit_test(who_comes_now_and_then_is_not_foretold),
		cmocka_unit_test(visits_are_told_from_accesses),
		cmocka_unit_test(visits_seen_by_chance_are_no_rhythm),
		cmocka_unit_test(what_is_nearly_too_frequent_foretells_what_it_can),
		cmocka_unit_test(holds_and_gaps_shift_it),
		cmocka_unit_test(what_was_long_ago_foretells_nothing),
		cmocka_unit_test(the_oldest_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
