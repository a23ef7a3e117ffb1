/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that `trapline flow waste` prints. */
#include "report/flow.h"

#include "record/finding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct finding_detail details[3][2] = {
	{{"percent", "7.00"}, {"high", "9.00"}},
	{{"percent", "0.01"}, {"high", "0.02"}},
	{{"percent", "0.02"}, {"high", "2.00"}},
};

static void what_is_as_good_as_nothing_has_no_row(void **state)
{
	struct finding row[3], *rows[3];
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	memset(row, 0, sizeof(row));
	for (unsigned i = 0; i < 3; i++) {
		row[i].kind = "dead-store";
		row[i].details = details[i];
		row[i].detail_count = 2;
		rows[i] = &row[i];
	}
	flow_write_text(stream, &(struct flow_view){.findings = rows, .count = 3});
	fclose(stream);
	assert_non_null(strstr(text, "7.0 % (0.0 to 9.0)"));
	assert_non_null(strstr(text, "0.0 % (0.0 to 2.0)"));
	assert_null(strstr(text, "0.0 % (0.0 to 0.0)"));
	assert_non_null(strstr(text, "and 1 more"));
	free(text);
}

static struct finding_frame unrolled = {.function = "clear", .file = "clear.c", .line = 7};
static struct finding_frame inlined[2] = {
	{.function = "set", .file = "set.h", .line = 3, .inlined = true},
	{.function = "fill", .file = "fill.c", .line = 9},
};

/* A loop that is unrolled has several stores on one line, each with its share. */
static void instructions_of_a_line_are_one_row(void **state)
{
	static struct finding_detail share[3] = {
		{"percent", "10.00"}, {"low", "7.00"}, {"high", "14.00"}};
	struct finding_access access[2] = {{.stack = {&unrolled, 1, 1}},
					   {.stack = {inlined, 2, 2}}};
	struct finding row[3], *rows[3];
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	memset(row, 0, sizeof(row));
	for (unsigned i = 0; i < 3; i++) {
		row[i].kind = "silent-store";
		row[i].details = share;
		row[i].detail_count = 3;
		row[i].accesses = &access[i == 2];
		row[i].access_count = 1;
		rows[i] = &row[i];
	}
	flow_write_text(stream, &(struct flow_view){.findings = rows, .count = 3});
	fclose(stream);
	assert_non_null(strstr(text, "20.0 % (15.8 to 25.7)  clear clear.c:7\n"));
	assert_non_null(strstr(text, "10.0 % (7.0 to 14.0)  set set.h:3 in fill\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_as_good_as_nothing_has_no_row),
		cmocka_unit_test(instructions_of_a_line_are_one_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
