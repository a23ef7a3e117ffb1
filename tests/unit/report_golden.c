/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each renderer's output against golden files, byte for byte.
 *
 * usage: unit_report_golden DIRECTORY            compare
 *        unit_report_golden --write DIRECTORY    regenerate: look at `git diff` afterwards
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html.h"
#include "jsonl/jsonl.h"
#include "report/sarif.h"
#include "suppression/suppressions.h"
#include "report/text.h"
#include "report_sample.h"

static int quote_line(void *arg, const char *file, unsigned line, char *text, size_t size)
{
	(void)arg;
	snprintf(text, size, "\tline %u of <%s>;", line, file);
	return 0;
}

static void write_jsonl(FILE *stream, const struct finding_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		jsonl_write(stream, set->findings[i]);
}

static void write_text(FILE *stream, const struct finding_set *set)
{
	struct text_options options = {.prefix = "==1== "};

	for (size_t i = 0; i < set->count; i++)
		text_write(stream, set->findings[i], &options);
}

static void write_colors(FILE *stream, const struct finding_set *set)
{
	struct text_options options = {.color = true, .frames = 2};

	for (size_t i = 0; i < set->count; i++)
		text_write(stream, set->findings[i], &options);
}

static void write_summary(FILE *stream, const struct finding_set *set)
{
	struct text_options options = {0};

	for (size_t i = 0; i < set->count; i++)
		text_write_summary(stream, set->findings[i], &options);
}

static void write_sarif(FILE *stream, const struct finding_set *set)
{
	struct sarif_options options = {.version = "0.0.0", .root = "/home"};

	sarif_write(stream, set, &options);
}

static void write_suppressions(FILE *stream, const struct finding_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		suppressions_generate(stream, set->findings[i]);
}

/* The page's own parts change often and are tested in a browser; the data put in are golden. */
static void write_html_data(FILE *stream, const struct finding_set *set)
{
	struct html_options options = {.title = "A <title>",
				       .version = "0.0.0",
				       .source = quote_line,
				       .source_context = 1};
	char *page = NULL, *start, *end;
	size_t size;
	FILE *whole = open_memstream(&page, &size);

	html_write(whole, set, &options);
	fclose(whole);
	start = strstr(page, "<script type=\"application/json\"");
	end = start ? strstr(start, "<script>\n") : NULL;
	if (end)
		fwrite(start, 1, (size_t)(end - start), stream);
	free(page);
}

static const struct {
	const char *name;
	void (*write)(FILE *stream, const struct finding_set *set);
} renderers[] = {
	{"findings.jsonl", write_jsonl},	 {"findings.txt", write_text},
	{"findings.color", write_colors},	 {"findings.summary", write_summary},
	{"findings.sarif", write_sarif},	 {"findings.supp", write_suppressions},
	{"findings.html.data", write_html_data},
};

static char *read_file(const char *path)
{
	FILE *stream = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!stream)
		return strdup("");
	if (getdelim(&text, &size, '\0', stream) < 0)
		text = text ? text : strdup("");
	fclose(stream);
	return text;
}

static struct finding_set *make_set(void)
{
	struct finding_set *set = finding_set_create();

	finding_set_add(set, sample_race());
	finding_set_add(set, sample_bare());
	finding_set_add(set, sample_hit());
	finding_set_add(set, sample_hostile());
	finding_set_add(set, sample_broken());
	finding_set_add(set, sample_ranked());
	finding_set_fold(set);
	return set;
}

/* 0 when the golden file holds what the renderer writes, or was rewritten. */
static int check(size_t renderer, const struct finding_set *set, const char *folder, int rewrite)
{
	char path[4096], *text = NULL, *golden;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	int differs = 0;

	renderers[renderer].write(stream, set);
	fclose(stream);
	snprintf(path, sizeof(path), "%s/%s", folder, renderers[renderer].name);
	if (rewrite) {
		stream = fopen(path, "we");
		differs = !stream || fputs(text, stream) < 0;
		if (stream)
			fclose(stream);
	} else {
		golden = read_file(path);
		differs = strcmp(golden, text) != 0;
		if (differs)
			printf("%s differs; this was written:\n%s\n", path, text);
		free(golden);
	}
	free(text);
	return differs;
}

int main(int argc, char **argv)
{
	int rewrite = argc == 3 && !strcmp(argv[1], "--write"), failed = 0;
	struct finding_set *set = make_set();
	size_t i;

	if (argc != 2 + rewrite) {
		fputs("usage: unit_report_golden [--write] DIRECTORY\n", stderr);
		return 2;
	}
	for (i = 0; i < sizeof(renderers) / sizeof(renderers[0]); i++)
		failed += check(i, set, argv[1 + rewrite], rewrite);
	finding_set_destroy(set);
	if (failed)
		printf("%d golden files differ; regenerate with: "
		       "build/tests/unit/unit_report_golden --write tests/unit/report_golden\n",
		       failed);
	return failed != 0;
}
