/* SPDX-License-Identifier: Apache-2.0 */
/* Findings to aim at: which are taken, when one is seen again, what the counts are said to mean. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "jsonl/aim.h"
#include "jsonl/jsonl.h"
#include "report_sample.h"

static void what_has_two_places_is_aimed_at_once(void **state)
{
	struct aim_list list = {0};
	struct finding *race = sample_race(), *again = sample_race(), *hit = sample_hit();

	(void)state;
	finding_identify(race);
	finding_identify(again);
	assert_true(aim_add(&list, race));
	assert_false(aim_add(&list, again));
	assert_false(aim_add(&list, hit));
	assert_int_equal(list.count, 1);
	assert_int_equal(list.placeless, 1);
	finding_destroy(race);
	finding_destroy(again);
	finding_destroy(hit);
}

static void more_than_there_is_room_for_are_counted(void **state)
{
	struct aim_list list = {0};
	struct finding *finding[AIM_MAX + 3];

	(void)state;
	for (int i = 0; i < AIM_MAX + 3; i++) {
		finding[i] = sample_race();
		finding[i]->accesses[0].stack.frames[0].line += (unsigned)i;
		finding_identify(finding[i]);
		assert_int_equal(aim_add(&list, finding[i]), i < AIM_MAX);
	}
	assert_int_equal(list.left_out, 3);
	for (int i = 0; i < AIM_MAX + 3; i++)
		finding_destroy(finding[i]);
}

static void it_is_recognised_by_its_id_or_by_its_places(void **state)
{
	struct aim_list list = {0};
	struct finding *race = sample_race(), *moved = sample_race();

	(void)state;
	finding_identify(race);
	moved->accesses[0].stack.frames[0].line++;
	finding_identify(moved);
	assert_string_not_equal(race->id, moved->id);
	aim_add(&list, race);
	assert_false(aim_recognise(&list, moved));
	list.current = 1;
	assert_true(aim_recognise(&list, moved));
	assert_string_equal(list.aim[0].again, moved->id);
	list.current = 0;
	assert_true(aim_recognise(&list, race));
	assert_string_equal(list.aim[0].again, race->id);
	finding_destroy(race);
	finding_destroy(moved);
}

static void earlier_runs_add_up(void **state)
{
	struct aim_list list = {0};
	struct finding *race = sample_race();

	(void)state;
	finding_identify(race);
	aim_add(&list, race);
	aim_add_before(&list, race->id, &(struct aim_score){5, 1});
	aim_add_before(&list, race->id, &(struct aim_score){13, 1});
	aim_add_before(&list, "0123456789abcdef", &(struct aim_score){7, 7});
	aim_add_before(&list, race->id, &(struct aim_score){1, 2});
	aim_add_before(&list, race->id, &(struct aim_score){UINT64_MAX, 0});
	assert_int_equal(list.aim[0].before.chances, 18);
	assert_int_equal(list.aim[0].before.meetings, 2);
	finding_destroy(race);
}

static struct aim_told sample(uint64_t seen, struct aim_score score, struct aim_score before)
{
	struct aim_told told = {.id = "0123456789abcdef", .seen = seen, .score = score};

	told.before = before;
	for (int i = 0; i < AIM_SIDES; i++) {
		strcpy(told.side[i].place, i ? "read() a.c:30" : "count() a.c:12");
		told.side[i].how = AIM_BY_LINE;
		told.side[i].instructions = 2;
		told.side[i].visits = 40;
	}
	return told;
}

static void the_text_says_what_the_counts_mean(void **state)
{
	static const struct {
		uint64_t seen;
		struct aim_score score, before;
		const char *says;
	} table[] = {
		{3, {9, 2}, {0, 0}, "seen again, 3 times; 9 chances, 2 meetings\n"},
		{0,
		 {412, 0},
		 {9, 1},
		 "412 chances, 0 meetings; before, 1 in 9: 46 meetings were to be expected\n"},
		{0, {9, 0}, {9, 1}, "1 in 9: only 1 meeting was to be expected, too few to tell\n"},
		{0,
		 {9, 0},
		 {9, 4},
		 "1 in 2.2: only 4 meetings were to be expected, too few to tell\n"},
		{0, {9, 0}, {0, 0}, "9 chances, 0 meetings; aim at it in the build before the fix"},
		{0, {9, 0}, {7, 0}, "before, none of 7 either\n"},
		{0, {9, 8}, {7, 3}, "9 chances, 8 meetings, none of them a race any more\n"},
		{0,
		 {0, 0},
		 {7, 3},
		 "no chance, which says nothing of a fix: threads came by the first "
		 "place 40 times, by the second 40\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct aim_told told = sample(table[i].seen, table[i].score, table[i].before);
		char text[1024] = "";
		FILE *stream = fmemopen(text, sizeof(text), "w");

		aim_write_text(stream, &told);
		fclose(stream);
		if (!strstr(text, table[i].says))
			fail_msg("%s does not say: %s", text, table[i].says);
	}
}

static void what_is_not_there_is_said(void **state)
{
	struct aim_told told = sample(0, (struct aim_score){0, 0}, (struct aim_score){0, 0});
	char text[1024] = "";
	FILE *stream = fmemopen(text, sizeof(text), "w");

	(void)state;
	told.side[1].how = AIM_NOWHERE;
	aim_write_text(stream, &told);
	fclose(stream);
	assert_non_null(strstr(text, "read() a.c:30 (not in this program)"));
	assert_non_null(strstr(text, "the second place was not found"));
}

/* 1: a finding, 0: none, or the error. */
static int read_line(const char *line, struct jsonl_reader **reader, struct report_error *error)
{
	FILE *stream = fmemopen((void *)line, strlen(line), "r");
	struct finding *finding = NULL;
	int result;

	*reader = jsonl_reader_create(stream, "sample");
	result = jsonl_read(*reader, &finding, error);
	if (result > 0)
		finding_destroy(finding);
	fclose(stream);
	return result;
}

static void what_is_written_is_read_back(void **state)
{
	struct aim_told told = sample(3, (struct aim_score){9, 2}, (struct aim_score){5, 1});
	struct report_error error = {""};
	struct jsonl_reader *reader;
	char line[2048] = "";
	FILE *stream = fmemopen(line, sizeof(line), "w");

	(void)state;
	strcpy(told.again, "fedcba9876543210");
	strcpy(told.run, "1-2");
	told.side[0].line = 17;
	assert_int_equal(jsonl_write_aim(stream, &told), 0);
	fclose(stream);
	assert_int_equal(read_line(line, &reader, &error), 0);
	assert_non_null(jsonl_reader_aim(reader, 0));
	assert_memory_equal(jsonl_reader_aim(reader, 0), &told, sizeof(told));
	assert_null(jsonl_reader_aim(reader, 1));
	jsonl_reader_destroy(reader);
}

static void what_is_wrong_is_refused_with_its_name(void **state)
{
#define SIDE "{\"place\":\"a\",\"found\":\"line\"}"
#define SIDES "\"sides\":[" SIDE "," SIDE "]"
	static const struct {
		const char *line, *says;
	} table[] = {
		{"{\"type\":\"aim\",\"id\":\"1\"}", "\"sides\" is not an array of two"},
		{"{\"type\":\"aim\"," SIDES "}", "\"id\" is not a finding's"},
		{"{\"type\":\"aim\",\"id\":\"0123456789abcdef0\"," SIDES "}", "\"id\""},
		{"{\"type\":\"aim\",\"id\":\"1\",\"chances\":-1," SIDES "}", "\"chances\""},
		{"{\"type\":\"aim\",\"id\":\"1\",\"chances\":1e3," SIDES "}", "\"chances\""},
		{"{\"type\":\"aim\",\"id\":\"1\",\"meetings\":1," SIDES "}", "\"meetings\""},
		{"{\"type\":\"aim\",\"id\":\"1\",\"before\":{\"meetings\":1}," SIDES "}",
		 "\"meetings\""},
		{"{\"type\":\"aim\",\"id\":\"1\",\"sides\":[" SIDE ",{\"found\":\"luck\"}]}",
		 "\"found\""},
		{"{\"type\":\"aim\",\"id\":\"1\",\"sides\":[" SIDE ",7]}", "\"found\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct report_error error = {""};
		struct jsonl_reader *reader;

		assert_int_equal(read_line(table[i].line, &reader, &error), -EILSEQ);
		if (!strstr(error.text, table[i].says))
			fail_msg("%s does not say: %s", error.text, table[i].says);
		assert_null(jsonl_reader_aim(reader, 0));
		jsonl_reader_destroy(reader);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_two_places_is_aimed_at_once),
		cmocka_unit_test(more_than_there_is_room_for_are_counted),
		cmocka_unit_test(it_is_recognised_by_its_id_or_by_its_places),
		cmocka_unit_test(earlier_runs_add_up),
		cmocka_unit_test(the_text_says_what_the_counts_mean),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(what_is_wrong_is_refused_with_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
