/* SPDX-License-Identifier: Apache-2.0 */
/* How much of its time a program is held, whatever its threads do: simulated, without a clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "allowance/credit.h"
#include "record/delay.h"

#define US 1000ull
#define SECOND 1000000000ull
#define BEGIN (100 * SECOND)

static struct area area;
static struct area_process *const process = &area.process[0];
static const struct wish millisecond = {.hold = 1000 * US};

static void begin(uint32_t parts, uint32_t lanes)
{
	area.hold_parts = parts;
	area.credit_cap = SECOND;
	credit_reset(&area, process, BEGIN);
	process->lanes = lanes;
}

/* As the handler does it. */
static uint64_t held(uint64_t identity, uint64_t now, uint64_t lived)
{
	bool is_new = credit_is_new(process, identity);

	return credit_take(&area, process, identity, now, is_new, lived, &millisecond).hold;
}

/* Threads that live for `life`, one after another, each held once where that is allowed. */
static uint64_t churn(uint64_t life, uint64_t seconds)
{
	uint64_t now = BEGIN, sum = 0, identity = 1000;

	while (now < BEGIN + seconds * SECOND) {
		uint64_t hold = held(identity++, now, life);

		sum += hold;
		now += hold + life;
	}
	return sum;
}

static void many_brief_threads_are_held_as_little_as_one(void **state)
{
	static const uint32_t parts[] = {20, 100, 3000, 5000};
	static const uint64_t lives[] = {2 * US, 50 * US, 3000 * US};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 3; j++) {
			uint64_t sum, share = 4 * SECOND / 10000 * parts[i];

			begin(parts[i], 1);
			sum = churn(lives[j], 4);
			/* Their own time pays as well; two milliseconds are lent. */
			assert_in_range(sum, share / 2, share * 2 + 3000 * US);
			if (lives[j] < 100 * US)
				assert_in_range(sum, share / 2, share * 11 / 10 + 3000 * US);
		}
}

static void several_at_a_time_earn_together(void **state)
{
	uint64_t one, four;

	(void)state;
	begin(100, 1);
	one = churn(2 * US, 4);
	begin(100, 4);
	four = churn(2 * US, 4);
	assert_in_range(four, 3 * one, 4 * one + 1000 * US);
}

/* Each 10 us, alternating. */
static uint64_t stay(uint64_t one, uint64_t other)
{
	uint64_t sum = 0;

	for (uint64_t now = BEGIN; now < BEGIN + 4 * SECOND; now += 20 * US)
		sum += held(one, now, now - BEGIN) + held(other, now + 10 * US, now - BEGIN);
	return sum;
}

static uint64_t identity_that_shares(uint64_t one)
{
	uint64_t other = one + 1;

	while (area_credit_of(process, one) != area_credit_of(process, other))
		other++;
	return other;
}

static void threads_that_stay_earn_for_themselves(void **state)
{
	uint64_t share = 4 * SECOND / 100;

	(void)state;
	begin(100, 1);
	assert_in_range(stay(1, 2), share * 18 / 10, share * 21 / 10);
	/* Two that share an account have no more than one, and what new threads have. */
	begin(100, 1);
	assert_in_range(stay(1, identity_that_shares(1)), share / 2, share * 21 / 10);
}

static void what_was_not_used_is_given_back(void **state)
{
	struct credit credit;

	(void)state;
	begin(100, 1);
	credit = credit_take(&area, process, 7, BEGIN + SECOND, true, SECOND, &millisecond);
	assert_int_equal(credit.hold, 1000 * US);
	credit_settle(process, &credit, 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(held(7, BEGIN + SECOND, 0), 1000 * US);
	assert_int_equal(held(7, BEGIN + SECOND, 0), 0);
}

/* ns that a thread is held in `seconds` which comes by each 10 us and wakes so often. */
static uint64_t serves(uint32_t wakes, uint64_t hold, uint64_t seconds)
{
	const struct wish wish = {.hold = hold, .least = hold / 2};
	uint64_t sum = 0;

	begin(100, 1);
	for (uint64_t now = BEGIN; now < BEGIN + seconds * SECOND; now += 10 * US) {
		struct credit credit;

		area_credit_of(process, 7)->wakes = wakes;
		credit = credit_take(&area, process, 7, now, credit_is_new(process, 7), SECOND,
				     &wish);
		if (credit.hold)
			credit_settle(process, &credit, credit.hold);
		sum += credit.hold;
		now += credit.hold;
	}
	return sum;
}

/* One percent of its time is allowed, and ten milliseconds are saved up before. */
static void what_queues_up_behind_a_thread_is_paid_for(void **state)
{
	const uint64_t share = 10 * SECOND / 100 + 10000 * US;

	(void)state;
	assert_in_range(serves(0, 1000 * US, 10), share * 9 / 10, share * 11 / 10);
	/* One piece of work comes in each hold, and waits for half of it; half a piece in the
	 * shorter holds that a thread has saved up for which comes by all the time. */
	assert_in_range(serves(1000, 1000 * US, 10), share * 7 / 10, share * 9 / 10);
	/* Ten come: holds are shortened to what pays, and never cost all. */
	assert_in_range(serves(10000, 1000 * US, 10), share / 7, share * 3 / 10);
	/* Short holds are hardly dearer: half a piece of work comes. */
	assert_in_range(serves(10000, 50 * US, 10), share * 7 / 10, share * 9 / 10);
}

/* The longest wish, of a thread that wakes as often as any can. */
static void no_thread_is_never_held(void **state)
{
	(void)state;
	assert_in_range(serves(UINT32_MAX, 1000 * US, 10), 10 * 500 * US, 25 * 500 * US);
	assert_in_range(serves(UINT32_MAX, 8000 * US, 10), 10 * 4000 * US, 26 * 4000 * US);
}

static void a_hold_that_lasts_longer_is_paid_for(void **state)
{
	struct credit credit;

	(void)state;
	begin(100, 1);
	credit = credit_take(&area, process, 7, BEGIN + SECOND, true, SECOND, &millisecond);
	assert_int_equal(credit.hold, 1000 * US);
	process->queued = 0;
	credit_settle(process, &credit, 8000 * US);
	assert_int_equal(process->longest, 8000 * US);
	assert_int_equal(process->queued, 0);
	assert_int_equal(credit.account->held, 8000 * US);
	assert_int_equal(held(7, BEGIN + SECOND, 0), 1000 * US);
	assert_int_equal(held(7, BEGIN + SECOND, 0), 1000 * US);
	assert_int_equal(held(7, BEGIN + SECOND, 0), 0);
}

/* Of one thread alone the controller has chosen the length by what it delays, and counts on it. */
static void a_whole_hold_is_not_shortened(void **state)
{
	struct wish wish = {.hold = 500 * US, .least = 250 * US};

	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		begin(100, 1);
		area_credit_of(process, 7)->wakes = 200000;
		wish.whole = whole ? wish.hold : 0;
		assert_in_range(
			credit_take(&area, process, 7, BEGIN + SECOND, true, SECOND, &wish).hold,
			whole ? 500 * US : 250 * US, whole ? 500 * US : 400 * US);
	}
	/* What has not been saved up is not waited for. */
	begin(100, 1);
	assert_int_equal(
		credit_take(&area, process, 7, BEGIN + SECOND, true, 40000 * US, &wish).hold,
		400 * US);
}

/* Of a thread that is stopped for an hour while it is held a minute is paid for. */
static void a_stopped_thread_is_held_again(void **state)
{
	struct credit credit;

	(void)state;
	begin(100, 1);
	area_credit_of(process, 7)->wakes = UINT32_MAX;
	credit = credit_take(&area, process, 7, BEGIN + SECOND, true, SECOND, &millisecond);
	assert_true(credit.hold > 0);
	credit_settle(process, &credit, 3600 * SECOND);
	assert_in_range(credit.account->until, BEGIN, BEGIN + 61 * 100 * SECOND);
}

/* Requests come 1,000 times a second: what is seen of it is that the thread sleeps as often while
 * each takes no time, and half as often where it is busy for half of the time. */
static void what_comes_to_a_busy_thread_is_told_by_its_sleep(void **state)
{
	(void)state;
	assert_in_range(delay_arrivals(1000, 0), 999, 1001);
	assert_in_range(delay_arrivals(500, 0.5), 999, 1001);
	assert_in_range(delay_arrivals(100, 0.9), 999, 1001);
	assert_in_range(delay_arrivals(10, 1), 319, 321);
	assert_in_range(delay_arrivals(10, 1.2), 319, 321); /* the clocks differ a little */
	assert_int_equal(delay_wakes(1e12), DELAY_WAKES_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_brief_threads_are_held_as_little_as_one),
		cmocka_unit_test(several_at_a_time_earn_together),
		cmocka_unit_test(threads_that_stay_earn_for_themselves),
		cmocka_unit_test(what_was_not_used_is_given_back),
		cmocka_unit_test(what_comes_to_a_busy_thread_is_told_by_its_sleep),
		cmocka_unit_test(what_queues_up_behind_a_thread_is_paid_for),
		cmocka_unit_test(no_thread_is_never_held),
		cmocka_unit_test(a_hold_that_lasts_longer_is_paid_for),
		cmocka_unit_test(a_whole_hold_is_not_shortened),
		cmocka_unit_test(a_stopped_thread_is_held_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
