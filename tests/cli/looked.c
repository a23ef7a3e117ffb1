/* SPDX-License-Identifier: Apache-2.0 */
/* What the summary of a run says of what was looked at and what was not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/looked.h"
#include "history/looked.h"

static char *told(const struct statistics *statistics)
{
	size_t length;
	char *text;
	FILE *stream = open_memstream(&text, &length);

	looked_tell(statistics, stream);
	fclose(stream);
	return text;
}

static void nothing_is_told_where_no_code_was_seen(void **state)
{
	struct statistics statistics = {.count = 1, .row = {{"pauses", "", 3}}};
	char *text = told(&statistics);

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

static void what_was_looked_at_and_what_was_not(void **state)
{
	struct statistics statistics = {.count = 0};
	char *text;

	(void)state;
	statistics_add(&statistics, "code-ran", 200, "");
	statistics_add(&statistics, "code-reached", 50, "");
	statistics_add(&statistics, "threads-seen", 4, "");
	statistics_add(&statistics, "requests-expired", 7, "");
	statistics_add(&statistics, "requests-dear", 0, "");
	text = told(&statistics);
	assert_non_null(strstr(text, "threads: 4,"));
	assert_non_null(strstr(text, "50 of 200 (25 %)"));
	assert_non_null(strstr(text, "       7 addresses were left out since no slot came free"));
	assert_null(strstr(text, "cost too much"));
	free(text);
}

static void a_piece_of_code_counts_once(void **state)
{
	struct looked *looked = calloc(1, sizeof(*looked));

	(void)state;
	looked_ran(looked, 1, 0x1000);
	looked_ran(looked, 2, 0x103f);
	looked_ran(looked, 2, 0x1040);
	looked_reached(looked, 3, 0x2000);
	assert_int_equal(looked->ran.members, 3);
	assert_int_equal(looked->reached.members, 1);
	assert_int_equal(looked->threads.members, 3);
	free(looked);
}

static void few_of_many_pieces_fall_together(void **state)
{
	struct looked *looked = calloc(1, sizeof(*looked));

	(void)state;
	for (uint64_t piece = 0; piece < 2000; piece++)
		looked_ran(looked, 1, 0x400000 + 64 * piece);
	assert_in_range(looked->ran.members, 1940, 2000);
	free(looked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_told_where_no_code_was_seen),
		cmocka_unit_test(what_was_looked_at_and_what_was_not),
		cmocka_unit_test(a_piece_of_code_counts_once),
		cmocka_unit_test(few_of_many_pieces_fall_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
