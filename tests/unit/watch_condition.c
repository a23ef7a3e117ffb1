/* SPDX-License-Identifier: Apache-2.0 */
/* --if: what is read from its text, and what the handler then makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "record/filter.h"
#include "watch/condition.h"

#include <errno.h>
#include <string.h>

#define UNKNOWN INT64_MIN

static bool holds(const char *text, bool is_signed, int64_t old, int64_t new)
{
	struct condition_values values = {old != UNKNOWN, new != UNKNOWN, is_signed, (uint64_t)old,
					  (uint64_t) new};
	struct condition condition;
	const char *reason = NULL;

	assert_int_equal(condition_parse(text, &condition, &reason), 0);
	return condition_holds(&condition, &values);
}

static void test_precedence(void **state)
{
	(void)state;
	assert_true(holds("new == 1 + 2 * 3", true, 0, 7));
	assert_true(holds("new == (1 + 2) * 3", true, 0, 9));
	assert_true(holds("new - old - 1 == 0", true, 4, 5));
	assert_true(holds("(new & 6) == 4", true, 0, 12));
	assert_true(holds("new & 6 == 6", true, 0, 1)); /* as in C: new & (6 == 6) */
	assert_true(holds("new == 1 || new == 2 && old == 3", true, 0, 1));
	assert_false(holds("(new == 1 || new == 2) && old == 3", true, 0, 1));
	assert_true(holds("!new", true, 1, 0));
	assert_true(holds("!(new != old)&&-new<~old", true, 5, 5) == (-5 < ~5));
	assert_true(holds("new % 1000 == 0", false, 0, 5000));
	assert_true(holds("new >> 4 == 0x1f && new << 1 == 0x3f0", false, 0, 0x1f8));
}

static void test_signs(void **state)
{
	(void)state;
	assert_true(holds("new < 0", true, 0, -1));
	assert_false(holds("new < 0", false, 0, -1));
	assert_true(holds("new > old", false, 1, -1));
	assert_true(holds("new / 2 == -3", true, 0, -6));
	assert_true(holds("new >> 1 == -3", true, 0, -6));
	assert_true(holds("new <= 18446744073709551615", false, 0, -1));
}

static void test_unknown_values_hide_nothing(void **state)
{
	(void)state;
	assert_true(holds("old != new", true, UNKNOWN, 3));
	assert_true(holds("!(old == new)", true, UNKNOWN, 3));
	assert_false(holds("old != new && new == 4", true, UNKNOWN, 3));
	assert_false(holds("!(old == 1 || new == 3)", true, UNKNOWN, 3));
	assert_true(holds("new / old == 7", true, 0, 3));
	assert_true(holds("new % (old - 1) == 7", true, 1, 3));
	assert_true(holds("new / old == 0", true, -1, INT64_MIN + 1) ||
		    holds("new << old == 0", true, 64, 1));
}

static void test_refusals(void **state)
{
	static const char *const wrong[] = {"",
					    "new =",
					    "new == ",
					    "(new",
					    "new)",
					    "new == x",
					    "1 == 1",
					    "new > 1.5",
					    "newer",
					    "new new",
					    "new == 99999999999999999999"};
	char deep[2 * 64 + 8] = "";
	struct condition condition;
	const char *reason;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		reason = NULL;
		assert_int_equal(condition_parse(wrong[i], &condition, &reason), -EINVAL);
		assert_non_null(reason);
	}
	memset(deep, '(', 64);
	assert_int_equal(condition_parse(deep, &condition, &reason), -EINVAL);
	assert_string_equal(reason, "it is nested too deeply");
}

/* The program can write the steps. */
static void test_nonsense_holds(void **state)
{
	struct condition_values values = {true, true, true, 1, 2};
	struct condition condition = {.count = CONDITION_STEPS + 1};

	(void)state;
	assert_true(condition_holds(&condition, &values));
	condition = (struct condition){.count = 1, .step = {{.operation = CONDITION_EQUAL}}};
	assert_true(condition_holds(&condition, &values));
	condition.step[0].operation = 1000;
	assert_true(condition_holds(&condition, &values));
	condition.count = CONDITION_STEPS;
	memset(condition.step, 0, sizeof(condition.step));
	assert_true(condition_holds(&condition, &values));
}

static void test_choosing(void **state)
{
	struct filter filter = {.every = 3, .first = 2};
	unsigned chosen = 0;

	(void)state;
	for (uint64_t number = 1; number < 30; number++)
		if (filter_chooses(&filter, number)) {
			assert_true(number == 1 || number == 4);
			chosen++;
		}
	assert_int_equal(chosen, 2);
}

static void test_places(void **state)
{
	static struct filter_process process;
	unsigned taught = 0;

	(void)state;
	assert_null(filter_place_find(&process, 0x1000, 0));
	for (uint64_t pc = 0x7f0000001000; pc < 0x7f0000001000 + 400 * 7; pc += 7) {
		int index = filter_place_teach(&process, pc, pc & 3, pc & 4);

		assert_true(index >= 0 || index == -ENOSPC);
		taught += index >= 0;
		assert_true((index >= 0) == (filter_place_find(&process, pc, pc & 3) != NULL));
		assert_null(filter_place_find(&process, pc, (pc + 1) & 3));
	}
	assert_true(taught > FILTER_PLACES / 2 && taught <= FILTER_PLACES);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_signs),
		cmocka_unit_test(test_unknown_values_hide_nothing),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_nonsense_holds),
		cmocka_unit_test(test_choosing),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
