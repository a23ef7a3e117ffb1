/* SPDX-License-Identifier: Apache-2.0 */
/* Anybody's file of findings: read it, and let every renderer at what came out. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "jsonl/aim.h"
#include "report/html.h"
#include "jsonl/jsonl.h"
#include "report/redact.h"
#include "report/sarif.h"
#include "suppression/suppressions.h"
#include "report/text.h"

static void render(struct finding_set *set)
{
	struct text_options text = {.frames = 8};
	struct sarif_options sarif = {.version = "0", .root = "/src"};
	struct html_options html = {.version = "0"};
	char *out = NULL;
	size_t size, i;
	FILE *stream = open_memstream(&out, &size);

	for (i = 0; i < set->count; i++) {
		text_write(stream, set->findings[i], &text);
		text_write_summary(stream, set->findings[i], &text);
		suppressions_generate(stream, set->findings[i]);
	}
	sarif_write(stream, set, &sarif);
	html_write(stream, set, &html);
	for (i = 0; i < set->count; i++)
		finding_redact(set->findings[i]);
	fclose(stream);
	free(out);
}

/* What was read must be writable, and readable again. */
static void check_again(const struct finding *finding)
{
	char *line = NULL;
	size_t size;
	FILE *stream = open_memstream(&line, &size);
	struct jsonl_reader *reader;
	struct report_error error;
	struct finding *again;

	if (jsonl_write(stream, finding))
		abort();
	fclose(stream);
	stream = fmemopen(line, size, "r");
	reader = jsonl_reader_create(stream, "again");
	if (jsonl_read(reader, &again, &error) != 1)
		abort();
	finding_destroy(again);
	jsonl_reader_destroy(reader);
	fclose(stream);
	free(line);
}

static void show_aims(const struct jsonl_reader *reader)
{
	const struct aim_told *told;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	for (size_t i = 0; (told = jsonl_reader_aim(reader, i)); i++) {
		aim_write_text(stream, told);
		if (jsonl_write_aim(stream, told))
			abort();
	}
	fclose(stream);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *stream = size ? fmemopen((void *)data, size, "r") : NULL;
	struct jsonl_reader *reader;
	struct finding_set *set;
	struct report_error error;
	struct finding *finding;
	int result;

	if (!stream)
		return 0;
	reader = jsonl_reader_create(stream, "fuzz");
	set = finding_set_create();
	do {
		result = jsonl_read(reader, &finding, &error);
		if (result > 0) {
			check_again(finding);
			finding_set_add(set, finding);
		}
	} while (result > 0 || result == -EILSEQ);
	show_aims(reader);
	finding_set_fold(set);
	render(set);
	finding_set_destroy(set);
	jsonl_reader_destroy(reader);
	fclose(stream);
	return 0;
}
