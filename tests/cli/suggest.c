/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void distances(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned distance;
	} table[] = {
		{"", "", 0},	      {"race", "race", 0},	 {"race", "rac", 1},
		{"race", "racer", 1}, {"race", "rice", 1},	 {"race", "arce", 1},
		{"", "watch", 5},     {"watch", "wtahc", 2},	 {"doctor", "docotr", 1},
		{"ca", "abc", 3},     {"report", "throttle", 6},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(suggest_distance(table[i].a, table[i].b), table[i].distance);
		assert_int_equal(suggest_distance(table[i].b, table[i].a), table[i].distance);
	}
}

static void too_long_is_far(void **state)
{
	static const char longer[] = "a-name-that-is-longer-than-any-command-could-be";

	(void)state;
	assert_int_equal(suggest_distance("race", longer), SUGGEST_MAX_LENGTH);
	assert_int_equal(suggest_distance(longer, longer), SUGGEST_MAX_LENGTH);
}

static void nearest(void **state)
{
	static const char *const names[] = {"race", "watch", "report", "doctor"};

	(void)state;
	assert_int_equal(suggest_nearest("rcae", names, 4), 0);
	assert_int_equal(suggest_nearest("doctr", names, 4), 3);
	assert_int_equal(suggest_nearest("wacth", names, 4), 1);
	assert_int_equal(suggest_nearest("frobnicate", names, 4), -1);
	assert_int_equal(suggest_nearest("", names, 4), -1);
	assert_int_equal(suggest_nearest("x", names, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(too_long_is_far),
		cmocka_unit_test(nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
