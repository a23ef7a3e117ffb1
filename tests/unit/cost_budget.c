/* SPDX-License-Identifier: Apache-2.0 */
/* The account's arithmetic, by tables: token bucket, budget, pace, wake-ups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "cost/budget.h"
#include "cost/pace.h"
#include "cost/wakeups.h"

#define START (1000 * SECOND)
#define MS ((int64_t)MILLISECOND)

static const struct budget_terms usual = {.percent = 1, .loan = -1};

static void a_bucket_keeps_what_fits_and_owes_what_does_not(void **state)
{
	static const struct {
		int64_t before, earned, spent, after;
		uint64_t wait; /* at half a ns earned a ns */
	} table[] =
		{
			{0, 10, 4, 6, 0},    {95, 10, 0, 100, 0},   {95, 10, 8, 97, 0},
			{5, 0, 9, -4, 8},    {-50, 20, 0, -30, 60}, {0, 0, 0, 0, 0},
			{10, 5, -20, 35, 0}, /* what was spent on a guess is given back */
		};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct bucket bucket = {table[i].before, 100};

		bucket_settle(&bucket, table[i].earned, table[i].spent);
		assert_int_equal(bucket.tokens, table[i].after);
		assert_int_equal(bucket_is_empty(&bucket), table[i].after < 0);
		assert_int_equal(bucket_wait(&bucket, 0.5), table[i].wait);
	}
}

/* One second of a program at a budget of one percent, hits at 5 us each. */
static void a_second_is_settled(void **state)
{
	static const struct {
		const char *what;
		struct spending used;
		uint64_t own; /* the controller's */
		struct budget_estimate estimate;
		int64_t change; /* of the bucket, which begins at half a second */
		int64_t loan;	/* afterwards, of 500 ms */
		bool sleepy;
	} table[] = {
		{"busy, nothing done", {.program = SECOND}, 0, {0}, 10 * MS, 500 * MS, false},
		{"two CPUs", {.program = 2 * SECOND}, 0, {0}, 20 * MS, 500 * MS, false},
		{"asleep: a quarter of a CPU counts", {0}, 0, {0}, 5 * MS / 2, 500 * MS, true},
		{"our own time", {.program = SECOND}, 4 * MS, {0}, 6 * MS, 500 * MS, false},
		{"a thousand hits",
		 {.program = SECOND, .hits = 1000},
		 0,
		 {0},
		 5 * MS,
		 500 * MS,
		 false},
		{"handlers",
		 {.program = SECOND, .handling = 3 * MS},
		 0,
		 {0},
		 7 * MS,
		 500 * MS,
		 false},
		{"holds cost no CPU time",
		 {.program = SECOND, .held = SECOND},
		 0,
		 {0},
		 10 * MS,
		 500 * MS,
		 false},
		{"wake-ups are lent",
		 {.program = SECOND},
		 0,
		 {.wakeups = 50 * MS},
		 10 * MS,
		 450 * MS,
		 false},
		{"beyond the loan they are charged",
		 {.program = SECOND},
		 0,
		 {.wakeups = 503 * MS},
		 7 * MS,
		 0,
		 false},
		{"so are interrupts",
		 {.program = SECOND},
		 0,
		 {.interrupts = 30 * MS},
		 10 * MS,
		 470 * MS,
		 false},
		{"and they are charged beyond it",
		 {.program = SECOND},
		 0,
		 {.wakeups = 450 * MS, .interrupts = 55 * MS},
		 5 * MS,
		 0,
		 false},
		{"samples are charged",
		 {.program = SECOND},
		 0,
		 {.samples = 2 * MS},
		 8 * MS,
		 500 * MS,
		 false},
		{"or lent while all is new",
		 {.program = SECOND},
		 0,
		 {.samples = 2 * MS, .lend_samples = true},
		 10 * MS,
		 498 * MS,
		 false},
		{"as far as two fifths",
		 {.program = SECOND},
		 0,
		 {.samples = 230 * MS, .lend_samples = true},
		 -20 * MS,
		 300 * MS,
		 false},
		{"which wake-ups may have taken",
		 {.program = SECOND},
		 0,
		 {.wakeups = 250 * MS, .samples = 2 * MS, .lend_samples = true},
		 8 * MS,
		 250 * MS,
		 false},
		{"a guess given back",
		 {.program = SECOND},
		 0,
		 {.wakeups = -5 * MS},
		 15 * MS,
		 500 * MS,
		 false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct budget budget = {.prices.hit = 5000};
		struct spending seen = {0};

		budget_start(&budget, &usual, 0, START);
		assert_int_equal(budget.bucket.tokens, 500 * MS);
		budget_add(&budget, &seen, &table[i].used);
		print_message("%s\n", table[i].what);
		assert_false(
			budget_settle(&budget, &table[i].estimate, table[i].own, START + SECOND));
		assert_int_equal(budget.bucket.tokens, 500 * MS + table[i].change);
		assert_int_equal(budget.loan, table[i].loan);
		assert_int_equal(budget.sleepy, table[i].sleepy);
	}
}

static void what_is_lent_can_be_chosen(void **state)
{
	static const struct {
		struct budget_terms terms;
		int64_t tokens;
		uint64_t loan;
	} table[] = {
		{{.percent = 1, .loan = -1}, 500 * MS, 500 * MS},
		{{.percent = 5, .loan = -1}, 2500 * MS, 2500 * MS},
		{{.percent = 1, .loan = 0}, 0, 0},
		{{.percent = 1, .loan = 0.1}, 100 * MS, 100 * MS},
		{{.percent = 1, .loan = 3}, 3000 * MS, 3000 * MS},
		{{.percent = 40, .loan = -1, .aggressive = true}, 800 * MS, 0},
		{{.percent = 40, .loan = 0, .aggressive = true}, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct budget budget = {0};

		budget_start(&budget, &table[i].terms, 0, START);
		assert_int_equal(budget.bucket.tokens, table[i].tokens);
		assert_int_equal(budget.loan, table[i].loan);
		assert_true(budget.bucket.most >= budget.bucket.tokens);
	}
}

static void debt_pauses_until_it_is_paid_but_no_longer_than_a_second(void **state)
{
	static const struct {
		uint64_t own; /* ms, in a second of a busy program that earns 10 */
		bool paused;
		uint64_t pause; /* ms */
	} table[] = {{510, false, 0}, {511, true, 99}, {515, true, 495}, {600, true, 1000}};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct budget budget = {0};
		struct spending seen = {0}, used = {.program = SECOND};
		struct budget_estimate none = {0};
		uint64_t now = START + SECOND;

		budget_start(&budget, &usual, 0, START);
		budget_add(&budget, &seen, &used);
		assert_int_equal(budget_settle(&budget, &none, table[i].own * MILLISECOND, now),
				 table[i].paused);
		if (table[i].paused)
			assert_in_range(budget.paused_until - now, table[i].pause * MILLISECOND,
					(table[i].pause + 1) * MILLISECOND);
	}
}

/* A process that has ended has no clock, and counts that fall back are no use. */
static void what_was_used_only_grows(void **state)
{
	struct budget budget = {0};
	struct spending seen = {0}, used = {.program = 10, .hits = 3, .held = 7};

	(void)state;
	budget_add(&budget, &seen, &used);
	used = (struct spending){.program = 0, .hits = 2, .held = 9};
	budget_add(&budget, &seen, &used);
	assert_int_equal(budget.sum.program, 10);
	assert_int_equal(budget.sum.hits, 3);
	assert_int_equal(budget.sum.held, 9);
}

static void the_controller_may_use_a_quarter_of_a_cpu_and_the_budget(void **state)
{
	static const struct {
		double percent;
		uint64_t used;	/* ms of CPU time, in a second */
		uint64_t pause; /* ms; 0: none. 500 were saved up */
	} table[] = {{0, 749, 0},    {0, 755, 20},   {0, 990, 120},  {25, 990, 0},
		     {25, 1010, 20}, {100, 1490, 0}, {100, 1510, 10}};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct pace pace = {0};

		pace_begin(&pace, table[i].percent);
		assert_false(pace_is_over(&pace, START, 0));
		assert_int_equal(pace_is_over(&pace, START + SECOND, table[i].used * MILLISECOND),
				 table[i].pause > 0);
		assert_in_range(pace_pause(&pace), table[i].pause * MILLISECOND,
				table[i].pause * MILLISECOND + 1000);
	}
}

static void only_so_many_hits_are_granted_at_a_time(void **state)
{
	struct pace pace = {0};

	(void)state;
	pace_begin(&pace, 0);
	pace_is_over(&pace, START, 0);
	pace.bucket.tokens = -2000 * MS;
	pace_allow_hits(&pace, 3);
	assert_int_equal(pace.bucket.tokens, -1997 * MS);
	pace_allow_hits(&pace, 1000000);
	assert_int_equal(pace.bucket.tokens, -1497 * MS);
	pace_allow_hits(&pace, 10);
	assert_int_equal(pace.bucket.tokens, -1497 * MS);
	pace_allow_process(&pace);
	assert_int_equal(pace.bucket.tokens, -14965 * MS / 10);
	assert_in_range(pace_pause(&pace), 119 * MILLISECOND, 121 * MILLISECOND);
}

/* A program that uses one CPU and wakes 10,000 times a second; a wake-up costs 2 us. */
static void wakeups_are_charged_while_something_is_armed(void **state)
{
	static const struct {
		uint64_t armed, sampled; /* ms of the second */
		double single;		 /* wake-ups a second of one thread, all the second */
		double wakeups_ms, samples_ms;
	} table[] = {
		{0, 0, 0, 0, 0},
		{1000, 0, 0, 20, 0},
		{500, 0, 0, 10, 0},
		{0, 0, 100, 0.2, 0},
		{500, 0, 100, 10.2, 0},
		{0, 40, 0, 0.396, 3}, /* the timer's price is 1 us; 1,000 samples at 3 us */
	};
	struct prices prices = {.wakeup = 2000, .timer = 1000, .sample = 3000, .period = 40000};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct wakeups wakeups = {.rate = 10000, .cpus = 1};
		struct wakeups_cost cost;

		wakeups_arm(&wakeups, START);
		wakeups_arm(&wakeups, START); /* as much together as one */
		wakeups_silence(&wakeups, START + table[i].armed * MILLISECOND / 2);
		wakeups_silence(&wakeups, START + table[i].armed * MILLISECOND);
		wakeups_silence_single(&wakeups, table[i].single, SECOND);
		cost = wakeups_charge(&wakeups, &prices, START + SECOND,
				      table[i].sampled * MILLISECOND);
		assert_in_range((uint64_t)(cost.wakeups / 1e3 + 0.5),
				(uint64_t)(table[i].wakeups_ms * 1e3),
				(uint64_t)(table[i].wakeups_ms * 1e3) + 1);
		assert_in_range((uint64_t)(cost.samples / 1e3 + 0.5),
				(uint64_t)(table[i].samples_ms * 1e3),
				(uint64_t)(table[i].samples_ms * 1e3) + 1);
	}
}

/* A clock that costs five times what passes from one switch to the next takes five sixths of the
 * time. */
static void clocks_take_no_more_time_than_passes(void **state)
{
	struct prices prices = {.timer = 15000, .sample = 3000, .period = 40000};
	struct wakeups wakeups = {.rate = 333333, .cpus = 1};
	struct wakeups_cost cost;

	(void)state;
	cost = wakeups_charge(&wakeups, &prices, START + SECOND, 120 * MILLISECOND);
	assert_in_range((uint64_t)cost.wakeups, 99 * MILLISECOND, 101 * MILLISECOND);
	wakeups.cpus = 0;
	assert_true(wakeups_timer_share(&wakeups, &prices) <= 1);
	wakeups.rate = 0;
	assert_true(wakeups_timer_share(&wakeups, &prices) == 0);
}

static void a_count_that_falls_leaves_the_rate(void **state)
{
	struct wakeups wakeups = {0};

	(void)state;
	wakeups_count(&wakeups, START, 5000, SECOND);
	assert_true(wakeups.rate == 0);
	wakeups_count(&wakeups, START + SECOND - 1, 7000, SECOND + SECOND / 2);
	assert_in_range((uint64_t)(wakeups.rate + 0.5), 2000, 2000);
	assert_in_range((uint64_t)(wakeups.cpus * 100 + 0.5), 50, 50);
	wakeups_count(&wakeups, START + 2 * SECOND, 100, 2 * SECOND);
	assert_in_range((uint64_t)(wakeups.rate + 0.5), 2000, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bucket_keeps_what_fits_and_owes_what_does_not),
		cmocka_unit_test(a_second_is_settled),
		cmocka_unit_test(what_is_lent_can_be_chosen),
		cmocka_unit_test(debt_pauses_until_it_is_paid_but_no_longer_than_a_second),
		cmocka_unit_test(what_was_used_only_grows),
		cmocka_unit_test(the_controller_may_use_a_quarter_of_a_cpu_and_the_budget),
		cmocka_unit_test(only_so_many_hits_are_granted_at_a_time),
		cmocka_unit_test(wakeups_are_charged_while_something_is_armed),
		cmocka_unit_test(clocks_take_no_more_time_than_passes),
		cmocka_unit_test(a_count_that_falls_leaves_the_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
