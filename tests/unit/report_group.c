/* SPDX-License-Identifier: Apache-2.0 */
/* In which order findings are shown, and what merging makes of their ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/group.h"
#include "jsonl/jsonl.h"
#include "store/set.h"

struct row {
	const char *name; /* of the object */
	enum finding_class certainty;
	unsigned rank;
	uint64_t count;
	const char *message; /* its number in the order that is expected */
};

static struct finding *make(const struct row *row, unsigned number)
{
	struct finding *finding = finding_create(FINDING_DATA_RACE);

	assert_non_null(finding);
	finding->certainty = row->certainty;
	finding->rank = row->rank;
	finding->count = row->count;
	finding->message = finding_string(finding, row->message);
	finding->object.kind = FINDING_OBJECT_GLOBAL;
	finding->object.name = finding_string(finding, row->name);
	snprintf(finding->id, sizeof(finding->id), "%016x", number);
	return finding;
}

static void test_order(void **state)
{
	static const struct row rows[] = {
		{"a", FINDING_POSSIBLE, 80, 1000, "6"},
		{"b[3].x", FINDING_POSSIBLE, 90, 5, "4"},
		{"b[2].y", FINDING_POSSIBLE, 10, 1, "3"},
		{"c", FINDING_LIKELY, 0, 1, "2"},
		{"b", FINDING_DEFINITE, 0, 1, "1"},
		{"a.first", FINDING_POSSIBLE, 40, 1, "5"},
		{NULL, FINDING_POSSIBLE, 80, 2000000, "7"},
	};
	struct finding_set *set = finding_set_create();

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(finding_set_add(set, make(&rows[i], i)), 0);
	assert_int_equal(finding_set_fold(set), 0);
	for (unsigned i = 0; i < set->count; i++)
		assert_int_equal(atoi(set->findings[i]->message), i + 1);
	finding_set_destroy(set);
}

static unsigned merged(unsigned first, enum finding_class first_class, unsigned second,
		       enum finding_class second_class)
{
	struct row rows[] = {{"a", first_class, first, 1, "x"},
			     {"a", second_class, second, 1, "x"}};
	struct finding_set *set = finding_set_create();
	unsigned rank;

	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(finding_set_add(set, make(&rows[i], 1)), 0);
	assert_int_equal(finding_set_fold(set), 0);
	assert_int_equal(set->count, 1);
	rank = set->findings[0]->rank;
	finding_set_destroy(set);
	return rank;
}

static void test_merging(void **state)
{
	(void)state;
	assert_int_equal(merged(40, FINDING_POSSIBLE, 10, FINDING_POSSIBLE), 10);
	assert_int_equal(merged(10, FINDING_POSSIBLE, 40, FINDING_POSSIBLE), 10);
	assert_int_equal(merged(0, FINDING_POSSIBLE, 40, FINDING_POSSIBLE), 40);
	assert_int_equal(merged(40, FINDING_POSSIBLE, 0, FINDING_LIKELY), 0);
	assert_int_equal(merged(0, FINDING_LIKELY, 40, FINDING_POSSIBLE), 0);
}

static void set_place(struct finding *finding, const char *module)
{
	struct finding_access *access = finding_add_access(finding);
	struct finding_frame *frame = finding_add_frame(finding, &access->stack);

	frame->module = finding_string(finding, module);
}

static void test_libraries_come_last(void **state)
{
	static const struct row rows[] = {{"a", FINDING_DEFINITE, 0, 9, "1"},
					  {"b", FINDING_LIKELY, 0, 1, "0"}};
	struct finding *findings[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		findings[i] = make(&rows[i], i);
	set_place(findings[0], "/usr/lib/x86_64-linux-gnu/libgomp.so.1");
	set_place(findings[0], "/lib/x86_64-linux-gnu/libgomp.so.1");
	set_place(findings[1], "/usr/lib/x86_64-linux-gnu/libgomp.so.1");
	set_place(findings[1], "/usr/bin/program");
	assert_true(finding_is_of_libraries(findings[0]));
	assert_false(finding_is_of_libraries(findings[1]));
	assert_int_equal(finding_groups_sort(findings, 2), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(findings[i]->message[0], '0' + (int)i);
		finding_destroy(findings[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),
					   cmocka_unit_test(test_libraries_come_last),
					   cmocka_unit_test(test_merging)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
