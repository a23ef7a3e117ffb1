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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_as_good_as_nothing_has_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
