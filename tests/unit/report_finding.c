/* SPDX-License-Identifier: Apache-2.0 */
/* The stable id, sets of findings, and redaction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "jsonl/jsonl.h"
#include "report/redact.h"
#include "store/set.h"
#include "report_sample.h"

static void swap_accesses(struct finding *finding)
{
	struct finding_access first = finding->accesses[0];

	finding->accesses[0] = finding->accesses[1];
	finding->accesses[1] = first;
}

static void check_id(struct finding *finding, const char *id, bool same)
{
	finding_identify(finding);
	assert_int_equal(!strcmp(finding->id, id), same);
}

static void test_id_is_symmetric(void **state)
{
	struct finding *finding = sample_race();
	char id[FINDING_ID_SIZE];

	(void)state;
	memcpy(id, finding->id, sizeof(id));
	swap_accesses(finding);
	check_id(finding, id, true);
	finding_destroy(finding);
}

/* Code above the functions grew by 100 lines, everything moved in the binary, the tree was built
 * elsewhere, the build-id and all addresses are others. */
static void test_id_survives_moved_code(void **state)
{
	struct finding *finding = sample_race();
	char id[FINDING_ID_SIZE];
	size_t i, j;

	(void)state;
	memcpy(id, finding->id, sizeof(id));
	for (i = 0; i < finding->access_count; i++) {
		for (j = 0; j < finding->accesses[i].stack.count; j++) {
			struct finding_frame *frame = &finding->accesses[i].stack.frames[j];

			frame->line += 100;
			frame->function_line += 100;
			frame->offset += 0x1000;
			frame->pc += 0x123000;
			frame->build_id = "feed";
			frame->file = finding_format(finding, "/elsewhere/%s", frame->file);
		}
		finding->accesses[i].address += 64;
		finding->accesses[i].tid += 1;
	}
	check_id(finding, id, true);
	finding->accesses[0].stack.frames[0].line++;
	check_id(finding, id, false);
	finding_destroy(finding);
}

static void test_id_with_symbols_alone(void **state)
{
	struct finding *finding = sample_bare();
	struct finding_frame *frame = finding->accesses[0].stack.frames;
	char id[FINDING_ID_SIZE], place[200];

	(void)state;
	frame->function = "update.constprop.0";
	frame->function_offset = 12;
	frame->module = "/usr/lib/libfoo.so.1.2";
	finding_place(&finding->accesses[0], place, sizeof(place));
	assert_string_equal(place, "update#libfoo.so+0xc");
	finding_identify(finding);
	memcpy(id, finding->id, sizeof(id));
	frame->offset += 4096; /* other functions grew */
	frame->module = "/opt/libfoo.so.2";
	check_id(finding, id, true);
	frame->function_offset++;
	check_id(finding, id, false);
	finding_destroy(finding);
}

/* What flows back is another edge, and so is that of another instruction on the line. */
static void test_id_of_an_edge(void **state)
{
	struct finding *finding = sample_race();
	char id[FINDING_ID_SIZE];

	(void)state;
	finding->kind = "flow-edge";
	finding_identify(finding);
	memcpy(id, finding->id, sizeof(id));
	check_id(finding, id, true);
	swap_accesses(finding);
	check_id(finding, id, false);
	swap_accesses(finding);
	finding->accesses[0].stack.frames[0].offset++;
	check_id(finding, id, false);
	finding_destroy(finding);
}

static void test_place_is_outside_the_c_library(void **state)
{
	struct finding *finding = sample_race();
	struct finding_stack *stack = &finding->accesses[0].stack;
	char place[200];

	(void)state;
	stack->frames[0].module = "/lib/x86_64-linux-gnu/libc.so.6";
	stack->frames[0].function = "__memcpy_avx_unaligned_erms";
	finding_place(&finding->accesses[0], place, sizeof(place));
	assert_string_equal(place, "serve@serve.c+20");
	assert_ptr_equal(finding_place_frame(&finding->accesses[0]), &stack->frames[1]);
	finding_destroy(finding);
}

static void test_ids_do_not_change(void **state)
{
	struct finding *race = sample_race(), *bare = sample_bare(), *hit = sample_hit();

	(void)state;
	/* Written into baselines and stores: a change here orphans them all. */
	assert_string_equal(race->id, "4dcdb32b064ee792");
	assert_string_equal(bare->id, "649cab082aace9fa");
	assert_string_equal(hit->id, "31b77f6d7bb2e9c8");
	finding_destroy(race);
	finding_destroy(bare);
	finding_destroy(hit);
}

static struct finding *seen(const char *run, uint64_t count, uint64_t time)
{
	struct finding *finding = sample_race();

	finding->run = finding_string(finding, run);
	finding->host = finding_string(finding, run);
	finding->count = count;
	finding->time = time;
	finding->last = 0;
	return finding;
}

static void test_set(void **state)
{
	struct finding_set *set = finding_set_create();

	(void)state;
	finding_set_next_file(set);
	assert_int_equal(finding_set_add(set, seen("a", 1, 2000)), 0);
	assert_int_equal(finding_set_add(set, seen("a", 2, 1000)), 0); /* adds up: 3 */
	assert_int_equal(finding_set_add(set, seen("b", 5, 9000)), 0);
	finding_set_next_file(set); /* run a again, cut short; then complete with more */
	assert_int_equal(finding_set_add(set, seen("a", 1, 2000)), 0);
	finding_set_next_file(set);
	assert_int_equal(finding_set_add(set, seen("a", 2, 2000)), 0);
	assert_int_equal(finding_set_add(set, seen("a", 2, 2000)), 0);
	assert_int_equal(finding_set_add(set, sample_hit()), 0);
	assert_int_equal(set->count, 3);
	assert_int_equal(finding_set_fold(set), 0);
	assert_int_equal(set->count, 2);
	assert_int_equal(set->findings[0]->count, 4 + 5);
	assert_int_equal(set->findings[0]->runs, 2);
	assert_int_equal(set->findings[0]->hosts, 2);
	assert_int_equal(set->findings[0]->builds, 1);
	assert_int_equal(set->findings[0]->time, 1000);
	assert_true(finding_set_contains(set, set->findings[1]->id));
	assert_false(finding_set_contains(set, "0000000000000000"));
	finding_set_destroy(set);
}

static void test_large_set(void **state)
{
	struct finding_set *set = finding_set_create();
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		struct finding *finding = finding_create(FINDING_NOTE);

		finding->message = finding_format(finding, "note %d", i % 10000);
		assert_int_equal(finding_set_add(set, finding), 0);
	}
	assert_int_equal(set->count, 10000);
	assert_int_equal(finding_set_fold(set), 0);
	assert_int_equal(set->findings[9999]->count, 2);
	finding_set_destroy(set);
}

static void test_occurrences_stay_bounded(void **state)
{
	struct finding *finding = finding_create(FINDING_NOTE);
	int i;

	(void)state;
	for (i = 0; i < 100000; i++)
		finding_add_occurrence(finding, 1000 + i, 1, true);
	assert_int_equal(finding->count, 100001);
	assert_int_equal(finding->last, 1000 + 99999);
	assert_in_range(finding->occurrence_count, FINDING_OCCURRENCES_MAX / 2,
			FINDING_OCCURRENCES_MAX);
	/* They cover the whole run, not just its beginning. */
	assert_in_range(finding->occurrences[finding->occurrence_count - 1].time, 98000, 101000);
	assert_in_range(finding->occurrences[0].time, 1000, 3000);
	finding_destroy(finding);
}

static void test_redaction(void **state)
{
	static const char *const secrets[] = {"0x7ff", "0x29",	   "0x2a",	 "/usr/bin", "src/",
					      "web-1", "/home/me", "secret-dir", "123456"};
	struct finding *finding = sample_race();
	char *text = NULL;
	size_t size, i;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	finding_add_detail(finding, "was", "pointer 0x7ffd1234, or 0x2a");
	finding_add_detail(finding, "value", "of 123456");
	finding_add_detail(finding, "share", "12.5%");
	finding->message = "read 123456 from /home/me/secret-dir/file.txt, line 17 of the source";
	assert_int_equal(finding_redact(finding), 0);
	assert_int_equal(jsonl_write(stream, finding), 0);
	fclose(stream);
	for (i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		if (strstr(text, secrets[i]))
			fail_msg("'%s' is left in %s", secrets[i], text);
	assert_non_null(strstr(text, "read # from file.txt, line 17 of the source"));
	assert_non_null(strstr(text, "stats_add"));
	assert_non_null(strstr(text, "12.5%"));
	free(text);
	finding_destroy(finding);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_id_is_symmetric),
		cmocka_unit_test(test_id_survives_moved_code),
		cmocka_unit_test(test_id_with_symbols_alone),
		cmocka_unit_test(test_id_of_an_edge),
		cmocka_unit_test(test_place_is_outside_the_c_library),
		cmocka_unit_test(test_ids_do_not_change),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_large_set),
		cmocka_unit_test(test_occurrences_stay_bounded),
		cmocka_unit_test(test_redaction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
