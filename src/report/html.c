/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page is page.html with its style, its script and the data put in. The data are JSON in a
 * script element that no browser runs; '<', '>' and '&' are written as escapes there, so that no
 * finding can end the element. The page makes text nodes of them, never markup. Only what is on the
 * screen is ever rendered, which keeps ten thousand findings as quick as ten.
 */
#include "report/html.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_page.h"
#include "jsonl/json.h"
#include "record/utf8.h"

#define SOURCE_LINE_SIZE 400
#define SNIPPETS_MAX 20000 /* places whose source is put into the page */

static void write_escaped(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", stream);
		else if (*text == '<')
			fputs("&lt;", stream);
		else if (*text == '>')
			fputs("&gt;", stream);
		else
			fputc(*text, stream);
	}
}

/* JSON text fit for a script element. */
static int write_json(FILE *stream, json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII)
			  : NULL;
	const char *at;

	json_decref(json);
	if (!text)
		return -ENOMEM;
	for (at = text; *at; at++) {
		if (strchr("<>&", *at))
			fprintf(stream, "\\u%04x", (unsigned)*at);
		else
			putc_unlocked(*at, stream);
	}
	free(text);
	return 0;
}

/* {"FILE:LINE": [first line's number, "text", …]} for every place of the set. */
struct snippets {
	const struct html_options *options;
	json_t *object;
};

static json_t *snippet(const struct html_options *options, const struct finding_frame *frame)
{
	unsigned context = options->source_context, line;
	unsigned first = frame->line > context ? frame->line - context : 1;
	char text[SOURCE_LINE_SIZE], *clean;
	json_t *lines = json_pack("[i]", (int)first);

	for (line = first; line <= frame->line + context; line++) {
		if (options->source(options->source_arg, frame->file, line, text, sizeof(text)))
			break;
		clean = utf8_clean(text);
		if (!clean || json_array_append_new(lines, json_string(clean))) {
			free(clean);
			break;
		}
		free(clean);
	}
	if (line <= frame->line) { /* the place itself could not be read */
		json_decref(lines);
		return NULL;
	}
	return lines;
}

static void add_snippet(struct snippets *snippets, const struct finding_frame *frame)
{
	char *key = NULL, *clean;
	json_t *lines;

	if (!frame->file || !frame->line || frame->line > INT32_MAX / 2 ||
	    json_object_size(snippets->object) >= SNIPPETS_MAX)
		return;
	clean = utf8_clean(frame->file);
	if (!clean || asprintf(&key, "%s:%u", clean, frame->line) < 0)
		key = NULL;
	free(clean);
	if (key && !json_object_get(snippets->object, key)) {
		lines = snippet(snippets->options, frame);
		if (lines)
			json_object_set_new(snippets->object, key, lines);
	}
	free(key);
}

static void add_finding_snippets(struct snippets *snippets, const struct finding *finding)
{
	const struct finding_frame *frame;
	size_t i, j;

	for (i = 0; i < finding->access_count; i++) {
		frame = finding_place_frame(&finding->accesses[i]);
		if (frame)
			add_snippet(snippets, frame);
		for (j = 0; j < finding->accesses[i].stack.count && j < 8; j++)
			add_snippet(snippets, &finding->accesses[i].stack.frames[j]);
	}
}

static int write_sources(FILE *stream, const struct finding_set *set,
			 const struct html_options *options)
{
	struct snippets snippets = {options, json_object()};
	size_t i;

	for (i = 0; options->source && i < set->count; i++)
		add_finding_snippets(&snippets, set->findings[i]);
	return write_json(stream, snippets.object);
}

/* Where in the stack each access's place is: the page shows that frame's source. */
static int write_finding(FILE *stream, const struct finding *finding)
{
	json_t *json = json_from_finding(finding), *accesses;
	size_t i;

	if (!json)
		return -ENOMEM;
	accesses = json_object_get(json, "accesses");
	for (i = 0; i < finding->access_count; i++) {
		const struct finding_access *access = &finding->accesses[i];
		const struct finding_frame *place = finding_place_frame(access);

		json_object_set_new(json_array_get(accesses, i), "place",
				    json_integer(place ? (json_int_t)(place - access->stack.frames)
						       : 0));
	}
	return write_json(stream, json);
}

static int write_findings(FILE *stream, const struct finding_set *set)
{
	size_t i;
	int err = 0;

	fputc('[', stream);
	for (i = 0; !err && i < set->count; i++) {
		fputs(i ? ",\n" : "\n", stream);
		err = write_finding(stream, set->findings[i]);
	}
	fputs("\n]", stream);
	return err;
}

/* The page's parts stand for themselves in "{{NAME}}" marks. */
static int write_part(FILE *stream, const char *name, size_t length, const struct finding_set *set,
		      const struct html_options *options)
{
	if (!strncmp(name, "TITLE", length))
		write_escaped(stream, options->title ? options->title : "Findings");
	else if (!strncmp(name, "VERSION", length))
		write_escaped(stream, options->version);
	else if (!strncmp(name, "STYLE", length))
		fputs(html_page_css, stream);
	else if (!strncmp(name, "SCRIPT", length))
		fputs(html_page_js, stream);
	else if (!strncmp(name, "FINDINGS", length))
		return write_findings(stream, set);
	else if (!strncmp(name, "SOURCES", length))
		return write_sources(stream, set, options);
	return 0;
}

int html_write(FILE *stream, const struct finding_set *set, const struct html_options *options)
{
	const char *at = html_page_html, *mark, *end;
	int err = 0;

	while (!err && (mark = strstr(at, "{{")) && (end = strstr(mark, "}}"))) {
		fwrite(at, 1, (size_t)(mark - at), stream);
		err = write_part(stream, mark + 2, (size_t)(end - mark - 2), set, options);
		at = end + 2;
	}
	fputs(at, stream);
	return err ? err : ferror(stream) ? -EIO : 0;
}
