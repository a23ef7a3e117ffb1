/* SPDX-License-Identifier: Apache-2.0 */
/* Of several runs of `trapline flow` the steps of each stay at the steps that they come from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "store/set.h"

struct row {
	const char *run, *id, *node, *parent, *repeats;
	bool forwards;
};

static void add(struct finding_set *set, const struct row *row)
{
	struct finding *finding = finding_create("flow-step");

	assert_non_null(finding);
	finding->run = finding_string(finding, row->run);
	snprintf(finding->id, sizeof(finding->id), "%s", row->id);
	finding_add_access(finding)->operation = row->forwards ? FINDING_READ : FINDING_WRITE;
	assert_int_equal(finding_add_detail(finding, "node", row->node), 0);
	if (row->parent)
		assert_int_equal(finding_add_detail(finding, "parent", row->parent), 0);
	if (row->repeats)
		assert_int_equal(finding_add_detail(finding, "repeats", row->repeats), 0);
	assert_int_equal(finding_set_add(set, finding), 0);
}

static struct finding_set *folded(const struct row *rows, size_t count)
{
	struct finding_set *set = finding_set_create();

	assert_non_null(set);
	for (size_t i = 0; i < count; i++)
		add(set, &rows[i]);
	assert_int_equal(finding_set_fold(set), 0);
	return set;
}

/* "-": it has no such member. */
static const char *member(const struct finding_set *set, const char *id, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		for (size_t j = 0;
		     strcmp(set->findings[i]->id, id) == 0 && j < set->findings[i]->detail_count;
		     j++)
			if (strcmp(set->findings[i]->details[j].name, name) == 0)
				return set->findings[i]->details[j].value;
	return "-";
}

/* The first run's step 1 is another one than the second's. */
static void test_two_runs(void **state)
{
	static const struct row rows[] = {
		{"first", "aaaa", "0", NULL, NULL, false},
		{"first", "bbbb", "1", "0", NULL, false},
		{"second", "aaaa", "0", NULL, NULL, false},
		{"second", "cccc", "1", "0", NULL, false},
		{"second", "dddd", "2", "1", "0", false},
		{"second", "bbbb", "3", "0", NULL, false},
	};
	struct finding_set *set = folded(rows, sizeof(rows) / sizeof(rows[0]));

	(void)state;
	assert_int_equal(set->count, 4);
	assert_string_equal(member(set, "aaaa", "parent"), "-");
	assert_string_equal(member(set, "bbbb", "parent"), "aaaa");
	assert_string_equal(member(set, "cccc", "parent"), "aaaa");
	assert_string_equal(member(set, "dddd", "parent"), "cccc");
	assert_string_equal(member(set, "dddd", "repeats"), "aaaa");
	assert_string_equal(member(set, "dddd", "node"), "dddd");
	finding_set_destroy(set);
}

/* One run asked both where values come from and where they go. */
static void test_both_directions(void **state)
{
	static const struct row rows[] = {
		{"first", "aaaa", "0", NULL, NULL, false},
		{"first", "bbbb", "0", NULL, NULL, true},
		{"first", "cccc", "1", "0", NULL, true},
		{"first", "dddd", "1", "0", NULL, false},
	};
	struct finding_set *set = folded(rows, sizeof(rows) / sizeof(rows[0]));

	(void)state;
	assert_string_equal(member(set, "cccc", "parent"), "bbbb");
	assert_string_equal(member(set, "dddd", "parent"), "aaaa");
	finding_set_destroy(set);
}

/* What was merged before, or has lost its parent, is no other step's. */
static void test_names_that_are_no_numbers_of_the_run(void **state)
{
	static const struct row rows[] = {
		{"first", "aaaa", "aaaa", NULL, NULL, false},
		{"second", "bbbb", "bbbb", "aaaa", NULL, false},
		{"third", "cccc", "7", "1", NULL, false},
		{"second", "dddd", "1", NULL, NULL, false},
	};
	struct finding_set *set = folded(rows, sizeof(rows) / sizeof(rows[0]));

	(void)state;
	assert_string_equal(member(set, "bbbb", "parent"), "aaaa");
	assert_string_equal(member(set, "cccc", "parent"), "1");
	assert_string_equal(member(set, "dddd", "node"), "dddd");
	finding_set_destroy(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_runs),
		cmocka_unit_test(test_both_directions),
		cmocka_unit_test(test_names_that_are_no_numbers_of_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
