/* SPDX-License-Identifier: Apache-2.0 */
/* How well blocks are looked after, by the time that it takes and that the program has used. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "agent/state.h"
#include "guard/care.h"

uint64_t agent_now(void)
{
	return 1;
}

#define ALL CARE_CERTAIN
#define HALF (CARE_CERTAIN / 2)

static void test_odds(void **state)
{
	static const struct {
		uint64_t spent, allowed;
		uint32_t kept, patterns;
	} cases[] = {
		{0, 0, ALL, ALL},		    /* nothing was spent yet */
		{1, 0, 0, 0},			    /* and nothing may be */
		{0, 1000, ALL, ALL},		    /* as long as it is below a quarter */
		{250, 1000, ALL, ALL},		    /* … all is done */
		{500, 1000, HALF, ALL},		    /* half of what is freed is kept */
		{625, 1000, CARE_CERTAIN / 4, ALL}, /* less and less is */
		{750, 1000, 0, ALL},		    /* none, and patterns are still for all */
		{875, 1000, 0, HALF},		    /* then they go, too */
		{1000, 1000, 0, 0},
		{UINT32_MAX, 1000, 0, 0},
		{500000000000, 1000000000000, HALF, ALL}, /* a quarter of an hour of CPU time */
		{1000000000000000, 2000000000000000, HALF, ALL}, /* 23 days of it */
		{UINT64_MAX / 8 * 7, UINT64_MAX, 0, HALF},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct care_odds odds = care_odds(cases[i].spent, cases[i].allowed);

		assert_int_equal(odds.kept, cases[i].kept);
		assert_int_equal(odds.patterns, cases[i].patterns);
	}
}

/* More time spent never lets more be done, and who is kept has patterns. */
static void test_falls(void **state)
{
	struct care_odds before = {ALL, ALL};

	(void)state;
	for (uint64_t spent = 0; spent < 1200; spent++) {
		struct care_odds odds = care_odds(spent, 1001);

		assert_true(odds.kept <= before.kept && odds.patterns <= before.patterns);
		assert_true(odds.kept <= odds.patterns);
		before = odds;
	}
	assert_int_equal(before.patterns, 0);
}

static void test_drawn(void **state)
{
	static const struct {
		struct care_odds odds;
		uint32_t drawn;
		enum care care;
	} cases[] = {
		{{ALL, ALL}, 0, CARE_KEPT},
		{{ALL, ALL}, ALL - 1, CARE_KEPT},
		{{HALF, ALL}, HALF - 1, CARE_KEPT},
		{{HALF, ALL}, HALF, CARE_PATTERNS},
		{{0, ALL}, 0, CARE_PATTERNS},
		{{0, ALL}, ALL - 1, CARE_PATTERNS},
		{{0, HALF}, HALF - 1, CARE_PATTERNS},
		{{0, HALF}, HALF, CARE_NONE},
		{{0, 0}, 0, CARE_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(care_drawn(cases[i].odds, cases[i].drawn), cases[i].care);
}

static void test_own(void **state)
{
	static const struct {
		uint64_t used, handling, own;
	} cases[] = {
		{0, 0, 0},
		{0, 1000, 0},
		{800, 0, 800},
		{800, 300, 500},
		{800, 700, 100},
		{800, 800, 100},	/* some of it was the program's in any case */
		{800, UINT64_MAX, 100}, /* the wall's time on a busy machine */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(care_own(cases[i].used, cases[i].handling), cases[i].own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_odds),
		cmocka_unit_test(test_falls),
		cmocka_unit_test(test_drawn),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
