/* SPDX-License-Identifier: Apache-2.0 */
/* Suppressions: what each rule hides and what it must not, bad rules, generated rules; globs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/glob.h"
#include "store/query.h"
#include "suppression/suppressions.h"
#include "report_sample.h"

static void test_globs(void **state)
{
	char text[2000], pattern[400];
	int i;

	(void)state;
	assert_true(glob_match("a*b?d", "axxbcd"));
	assert_false(glob_match("a*b?d", "axxbcde"));
	assert_true(glob_match("*", ""));
	assert_false(glob_match("", "a"));
	assert_true(glob_match("operator[]*", "operator[](int)"));
	assert_true(glob_match("a\\*b", "a*b"));
	assert_false(glob_match("a\\*b", "axb"));
	assert_true(glob_match("a\\", "a\\"));
	assert_true(glob_match_path("a.c", "/x/a.c"));
	assert_false(glob_match_path("y/a.c", "/x/y/a.c"));
	assert_true(glob_match_path("*y/a.c", "/x/y/a.c"));
	/* A hostile pattern takes no more than pattern times text steps. */
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (i = 0; i < 398; i += 2)
		memcpy(pattern + i, "*a", 2);
	strcpy(pattern + 398, "b");
	assert_false(glob_match(pattern, text));
}

/* Whether the rules hide the sample race. */
static bool hides(const char *rules)
{
	struct suppressions *suppressions = suppressions_create();
	struct finding *finding = sample_race();
	struct report_error error = {""};
	bool hidden;

	if (suppressions_parse(suppressions, "rules", rules, strlen(rules), &error))
		fail_msg("%s", error.text);
	hidden = suppressions_match(suppressions, finding) != NULL;
	suppressions_destroy(suppressions);
	finding_destroy(finding);
	return hidden;
}

static void test_rules_that_hide(void **state)
{
	static const char *const rules[] = {
		"data-race function:serve",
		"* function:stats_*",
		"data-* top:stats_add top:stats_print",
		"data-race file:stats.c",
		"data-race file:src/stats.c",
		"data-race module:server",
		"data-race module:/usr/*",
		"data-race object:\"struct stats\"",
		"data-race thread:worker-*",
		"data-race program:server",
		"data-race class:likely",
		"data-race stack:stats_add;serve;worker",
		"data-race stack:stats_add;...;worker",
		"data-race stack:...;worker",
		"data-race stack:stats_add",
		"data-race stack:stats_print;report",
		"# comment\n\n  data-race\tfunction:serve # why\n",
		"hit function:*\ndata-race function:serve\n",
		"data-race stack:\"...;serve;...\"",
		"data-race within:server",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!hides(rules[i]))
			fail_msg("should hide: %s", rules[i]);
}

static void test_rules_that_do_not(void **state)
{
	static const char *const rules[] = {
		"hit function:serve",
		"data-race function:serv",
		"data-race function:serve file:other.c",
		"data-race top:serve",
		"data-race function:stats_create", /* where the block was allocated */
		"data-race stack:stats_create",
		"data-race function:stats_drop",
		"data-race object:struct",
		"data-race class:definite",
		"data-race stack:serve",
		"data-race stack:stats_add;worker",
		"data-race within:libc.so*",
		"hit within:server",
		"data-race stack:...;nothing",
		"data-race stack:stats_add;serve;worker;more",
		"# data-race function:serve",
		"",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (hides(rules[i]))
			fail_msg("should not hide: %s", rules[i]);
}

static void test_bad_rules(void **state)
{
	static const char *const rules[] = {
		"data-race",
		"function:serve",
		"data-race color:red",
		"data-race function:",
		"data-race function:\"open",
		"data-race function:\"a\"b",
		"data-race file",
	};
	struct report_error error;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct suppressions *suppressions = suppressions_create();
		char text[200];

		snprintf(text, sizeof(text), "# first\n%s\n", rules[i]);
		if (!suppressions_parse(suppressions, "file", text, strlen(text), &error))
			fail_msg("should be refused: %s", rules[i]);
		assert_memory_equal(error.text, "file:2: ", 8);
		suppressions_destroy(suppressions);
	}
}

static void check_generated(struct finding *finding)
{
	struct suppressions *suppressions = suppressions_create();
	struct report_error error = {""};
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	suppressions_generate(stream, finding);
	fclose(stream);
	if (suppressions_parse(suppressions, "generated", text, size, &error))
		fail_msg("%s: %s", error.text, text);
	if (!suppressions_match(suppressions, finding))
		fail_msg("does not hide its own finding: %s", text);
	suppressions_destroy(suppressions);
	free(text);
	finding_destroy(finding);
}

static void test_generated_rules(void **state)
{
	struct finding *odd = sample_race();

	(void)state;
	odd->accesses[0].stack.frames[0].function = "weird \"name\" with \\ * ? # and blanks";
	check_generated(odd);
	check_generated(sample_race());
	check_generated(sample_bare());
	check_generated(sample_hit());
	check_generated(sample_hostile());
}

static void test_queries(void **state)
{
	static const char *const good[] = {"file=stats.c",	   "function=serve",
					   "program=server",	   "class=likely",
					   "new-since=2026-11-21", "gone-since=2026-11-22",
					   "host=web-*",	   "build=4b1d",
					   "kind=data-race",	   "module=server"};
	static const char *const others[] = {"file=other.c", "class=definite",
					     "new-since=2026-11-21T12:00:01",
					     "gone-since=2026-11-21", "build=4c"};
	static const char *const bad[] = {
		"file",	      "file=", "color=red", "new-since=soon", "new-since=2026-13-01",
		"class=sure", ""};
	struct finding *finding = sample_race();
	struct report_error error;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct query query = {.count = 0};

		assert_int_equal(query_add(&query, good[i], &error), 0);
		if (!query_selects(&query, finding))
			fail_msg("%s should select", good[i]);
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct query query = {.count = 0};

		assert_int_equal(query_add(&query, others[i], &error), 0);
		if (query_selects(&query, finding))
			fail_msg("%s should not select", others[i]);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct query query = {.count = 0};

		assert_int_not_equal(query_add(&query, bad[i], &error), 0);
	}
	finding_destroy(finding);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_rules_that_hide),
		cmocka_unit_test(test_rules_that_do_not),
		cmocka_unit_test(test_bad_rules),
		cmocka_unit_test(test_generated_rules),
		cmocka_unit_test(test_queries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
