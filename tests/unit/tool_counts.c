/* SPDX-License-Identifier: Apache-2.0 */
/* What tools count is shown, all of it, and with what the tool says of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tool/counts.h"

#include <stdio.h>
#include <string.h>

#define MANY 200

struct seen {
	const char *name;
	uint64_t value;
	const char *meaning;
	unsigned rows;
};

static void look(void *context, const char *name, uint64_t value, const char *meaning)
{
	struct seen *seen = context;

	seen->rows++;
	if (strcmp(name, seen->name) != 0)
		return;
	seen->value = value;
	seen->meaning = meaning;
}

static struct seen find(const struct tool_counts *counts, const char *name)
{
	struct seen seen = {.name = name};

	tool_counts_each(counts, look, &seen);
	return seen;
}

static void more_names_than_were_ever_kept(void **state)
{
	static char name[MANY][16];
	struct tool_counts counts;

	(void)state;
	tool_counts_begin(&counts, NULL);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name[i], sizeof(name[i]), "name-%u", i);
		tool_counts_add(&counts, name[i], i);
		tool_counts_add(&counts, name[i], 1);
	}
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(find(&counts, name[i]).value, i + 1);
		assert_non_null(strstr(find(&counts, name[i]).meaning, "counted by the tool"));
	}
	assert_null(find(&counts, "counts-lost").meaning);
	tool_counts_end(&counts);
}

static void what_a_tool_says_of_its_counts(void **state)
{
	static const struct tl_count known[] = {
		{"first", "what comes first"}, {"second", "what comes next"}, {NULL, NULL}};
	char same[] = "second"; /* another address */
	struct tool_counts counts;

	(void)state;
	tool_counts_begin(&counts, known);
	tool_counts_add(&counts, same, 2);
	tool_counts_add(&counts, known[1].name, 3);
	assert_int_equal(find(&counts, "first").value, 0);
	assert_string_equal(find(&counts, "first").meaning, "what comes first");
	assert_int_equal(find(&counts, "second").value, 5);
	assert_string_equal(find(&counts, "second").meaning, "what comes next");
	assert_int_equal(find(&counts, "none").rows, 3);
	assert_non_null(find(&counts, "findings-lost").meaning);
	tool_counts_end(&counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_names_than_were_ever_kept),
		cmocka_unit_test(what_a_tool_says_of_its_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
