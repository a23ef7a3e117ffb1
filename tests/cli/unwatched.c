/* SPDX-License-Identifier: Apache-2.0 */
/* What is said at the end of a run in which little was watched, by what was counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/unwatched.h"
#include "event/probe.h"

struct counted {
	const char *name;
	uint64_t value;
};

static const struct counted *counts;

void control_counts(const struct control *control, control_count_fn *each, void *context)
{
	(void)control;
	for (const struct counted *row = counts; row->name; row++)
		each(context, row->name, row->value, "");
}

bool control_guards_all(const struct control *control)
{
	(void)control;
	return false;
}

const struct probe_outcome *probe_outcome(enum probe probe)
{
	static const struct probe_outcome works;

	(void)probe;
	return &works;
}

/* What is said of these counts. */
static const char *said(const struct counted *of)
{
	static char text[4096];
	int sides[2], before = dup(STDERR_FILENO);
	ssize_t length;

	counts = of;
	assert_int_equal(pipe(sides), 0);
	dup2(sides[1], STDERR_FILENO);
	close(sides[1]);
	unwatched_tell(NULL, "nothing was watched");
	dup2(before, STDERR_FILENO);
	close(before);
	length = read(sides[0], text, sizeof(text) - 1);
	close(sides[0]);
	text[length > 0 ? length : 0] = 0;
	return text;
}

/* Slots refuse the addresses of a process that became a program which is not watched. */
static void one_reason_is_told(void **state)
{
	const char *text = said((const struct counted[]){{"processes", 1},
							 {"programs-unentered", 1},
							 {"code-watches", 8},
							 {"watches-failed", 171},
							 {NULL, 0}});

	(void)state;
	assert_non_null(strstr(text, "(programs-unentered: 1; processes: 1)"));
	assert_null(strstr(text, "watches-failed"));
}

static void refused_addresses_are_told(void **state)
{
	const char *text = said((const struct counted[]){
		{"processes", 1}, {"watches", 1}, {"watches-failed", 171}, {NULL, 0}});

	(void)state;
	assert_non_null(strstr(text, "(watches-failed: 171; watches: 1)"));
}

static void nothing_is_told_where_all_is_watched(void **state)
{
	(void)state;
	assert_string_equal(
		said((const struct counted[]){{"processes", 1}, {"watches", 20}, {NULL, 0}}), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_reason_is_told),
		cmocka_unit_test(refused_addresses_are_told),
		cmocka_unit_test(nothing_is_told_where_all_is_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
