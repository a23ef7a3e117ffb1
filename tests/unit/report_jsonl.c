/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Lines: what is written is read back the same; raw recordings; what is refused, and how. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "jsonl/jsonl.h"
#include "report_sample.h"

static char *written(const struct finding *finding)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_int_equal(jsonl_write(stream, finding), 0);
	fclose(stream);
	return text;
}

static int read_text(const char *text, struct finding **finding, struct report_error *error)
{
	FILE *stream = fmemopen((void *)text, strlen(text), "r");
	struct jsonl_reader *reader = jsonl_reader_create(stream, "sample");
	int result = jsonl_read(reader, finding, error);

	jsonl_reader_destroy(reader);
	fclose(stream);
	return result;
}

static void check_round_trip(struct finding *finding)
{
	struct report_error error = {""};
	struct finding *read;
	char *first = written(finding), *second;

	assert_int_equal(read_text(first, &read, &error), 1);
	second = written(read);
	assert_string_equal(first, second);
	free(first);
	free(second);
	finding_destroy(read);
	finding_destroy(finding);
}

static void test_round_trip(void **state)
{
	(void)state;
	check_round_trip(sample_race());
	check_round_trip(sample_bare());
	check_round_trip(sample_hit());
	check_round_trip(sample_hostile());
	check_round_trip(sample_broken());
	check_round_trip(sample_ranked());
}

static void test_raw_recording(void **state)
{
	static const char text[] =
		"{\"v\":1,\"kind\":\"modules\",\"run\":\"r\",\"pid\":7,\"modules\":[{\"path\":\"/lib/a.so.3\","
		"\"build_id\":\"ab\",\"start\":\"0x1000\",\"end\":\"0x2000\",\"bias\":\"0x800\"}]}\n"
		"\n"
		"{\"v\":1,\"kind\":\"data-race\",\"run\":\"r\",\"pid\":7,\"accesses\":[{\"stack\":[\"0x1010\",\"0x2000\","
		"\"0x9000\"]}]}\n";
	struct report_error error;
	struct finding *finding;
	struct finding_frame *frames;
	char place[100];

	(void)state;
	assert_int_equal(read_text(text, &finding, &error), 1);
	frames = finding->accesses[0].stack.frames;
	assert_string_equal(frames[0].module, "/lib/a.so.3");
	assert_string_equal(frames[0].build_id, "ab");
	assert_int_equal(frames[0].offset, 0x810);
	assert_string_equal(frames[1].module, "/lib/a.so.3"); /* a return address at the very end */
	assert_null(frames[2].module);
	assert_int_equal(strlen(finding->id), FINDING_ID_SIZE - 1);
	finding_place(&finding->accesses[0], place, sizeof(place));
	assert_string_equal(place, "a.so+0x810");
	finding_destroy(finding);
}

static void check_refused(const char *text, int expected, const char *message)
{
	struct report_error error = {""};
	struct finding *finding = NULL;

	assert_int_equal(read_text(text, &finding, &error), expected);
	assert_non_null(strstr(error.text, message));
}

static void test_refusals(void **state)
{
	(void)state;
	check_refused("{\"v\":1,\"kind\":\"x\"", -ENODATA, "sample:1: the last line was cut short");
	check_refused("{\"v\":1,\"kind\":\"x\"\n", -EILSEQ, "sample:1: not JSON");
	check_refused("[]\n", -EILSEQ, "not a JSON object");
	check_refused("{\"a\":1}\n", -EILSEQ, "not a file of findings");
	check_refused("{\"v\":2,\"kind\":\"x\"}\n", -EILSEQ, "newer trapline");
	check_refused("{\"v\":1,\"kind\":\"x\",\"pid\":-1}\n", -EILSEQ, "\"pid\"");
	check_refused("{\"v\":1,\"kind\":\"x\",\"pid\":4294967297}\n", -EILSEQ, "\"pid\"");
	check_refused("{\"v\":1,\"kind\":\"x\",\"id\":\"xyz\"}\n", -EILSEQ, "\"id\"");
	check_refused("{\"v\":1,\"kind\":\"x\",\"class\":\"sure\"}\n", -EILSEQ, "\"class\"");
	check_refused("{\"v\":1,\"kind\":\"x\",\"time\":\"soon\"}\n", -EILSEQ, "\"time\"");
	check_refused("{\"v\":1,\"kind\":\"x\",\"accesses\":[1]}\n", -EILSEQ, "\"accesses\"");
	check_refused("{\"v\":1,\"kind\":\"x\",\"accesses\":[{\"address\":\"12\"}]}\n", -EILSEQ,
		      "\"address\"");
	check_refused("{\"v\":1,\"kind\":\"x\",\"accesses\":[{\"stack\":[\"0x\"]}]}\n", -EILSEQ,
		      "\"stack\"");
	check_refused(
		"{\"v\":1,\"kind\":\"modules\",\"modules\":[{\"path\":\"a\",\"start\":\"0x2\","
		"\"end\":\"0x1\"}]}\n",
		-EILSEQ, "\"end\"");
}

static void test_bounds(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	int i;

	(void)state;
	fputs("{\"v\":1,\"kind\":\"x\",\"accesses\":[{}", stream);
	for (i = 0; i < FINDING_ACCESSES_MAX; i++)
		fputs(",{}", stream);
	fputs("]}\n", stream);
	fclose(stream);
	check_refused(text, -ENOMEM, "\"accesses\"");
	free(text);
}

static void test_bad_line_is_passed(void **state)
{
	char text[] = "nonsense\n{\"v\":1,\"kind\":\"x\"}\n";
	FILE *stream = fmemopen(text, strlen(text), "r");
	struct jsonl_reader *reader = jsonl_reader_create(stream, "sample");
	struct report_error error;
	struct finding *finding;

	(void)state;
	assert_int_equal(jsonl_read(reader, &finding, &error), -EILSEQ);
	assert_int_equal(jsonl_read(reader, &finding, &error), 1);
	finding_destroy(finding);
	assert_int_equal(jsonl_read(reader, &finding, &error), 0);
	jsonl_reader_destroy(reader);
	fclose(stream);
}

static void test_what_never_ends_is_not_read_through(void **state)
{
	FILE *stream = fopen("/dev/zero", "r");
	struct jsonl_reader *reader = jsonl_reader_create(stream, "sample");
	struct report_error error;
	struct finding *finding;

	(void)state;
	assert_int_equal(jsonl_read(reader, &finding, &error), -EFBIG);
	assert_string_equal(error.text, "sample:1: not JSON, nor text at all");
	jsonl_reader_destroy(reader);
	fclose(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_raw_recording),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_bad_line_is_passed),
		cmocka_unit_test(test_what_never_ends_is_not_read_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
