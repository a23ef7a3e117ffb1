/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a maintainer asks of a report: what happens, where, in which build, how sure, how it was
 * seen.
 *
 * Text of the program's own (names, paths, source) could be taken for markup. Most of it stands in
 * blocks that are set in by four blanks, which no line of their own can end; in a sentence it
 * stands between backticks, and a backtick in it becomes an apostrophe.
 */
#include "report/markdown.h"

#include "base/path.h"

#include "record/utf8.h"
#include "report/text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define INDENT "    "
#define MODULES_MAX 16

static void write_code(FILE *stream, const char *text)
{
	char shown[1024];

	utf8_escape(shown, sizeof(shown), text);
	for (char *at = shown; (at = strchr(at, '`'));)
		*at = '\'';
	fprintf(stream, "`%s`", shown);
}

static void write_place(FILE *stream, const struct finding_access *access)
{
	const struct finding_frame *frame = finding_place_frame(access);
	char line[PATH_MAX];

	if (!frame) {
		fputs("a place not known", stream);
		return;
	}
	if (!frame->function && frame->module) {
		snprintf(line, sizeof(line), "%s+0x%" PRIx64, path_name(frame->module),
			 frame->offset);
		write_code(stream, line);
		return;
	}
	write_code(stream, frame->function ? frame->function : "?");
	if (!frame->file)
		return;
	snprintf(line, sizeof(line), ":%u", frame->line);
	fputs(" (", stream);
	write_code(stream, path_name(frame->file));
	fprintf(stream, "%s)", line);
}

static void write_title(FILE *stream, const struct finding *finding)
{
	fputs("# ", stream);
	utf8_print(stream, finding->kind);
	for (size_t i = 0; i < finding->access_count; i++) {
		fputs(i ? " and " : ": ", stream);
		write_place(stream, &finding->accesses[i]);
	}
	fputs("\n\n", stream);
}

static void write_opening(FILE *stream, const struct finding *finding, const char *version)
{
	fputs("Seen in ", stream);
	write_code(stream, path_name(finding->program));
	fprintf(stream, ", as it is installed (nothing was recompiled), by Trapline %s", version);
	if (finding->count > 1)
		fprintf(stream, ", %llu times", (unsigned long long)finding->count);
	fputs(".\n\n## What happens\n\n", stream);
}

/* False: there is no such file here. */
static bool write_excerpt(FILE *stream, const struct finding_frame *frame,
			  const struct markdown_options *options, bool heading)
{
	unsigned context = options->source_context;
	unsigned first = frame->line > context ? frame->line - context : 1;
	bool begun = false;
	char text[512];

	for (unsigned line = first; line <= frame->line + context; line++) {
		if (options->source(options->source_arg, frame->file, line, text, sizeof(text)) < 0)
			continue;
		if (!begun) {
			fputs(heading ? "## The code\n\nIn " : "In ", stream);
			write_code(stream, frame->file);
			fputs(":\n\n", stream);
		}
		begun = true;
		fprintf(stream, INDENT "%s %6u  ", line == frame->line ? "->" : "  ", line);
		for (char *tab = text; (tab = strchr(tab, '\t'));)
			*tab = ' ';
		utf8_print(stream, text);
		fputc('\n', stream);
	}
	if (begun)
		fputc('\n', stream);
	return begun;
}

static bool same_place(const struct finding_frame *a, const struct finding_frame *b)
{
	return a && b && a->file && b->file && a->line == b->line && strcmp(a->file, b->file) == 0;
}

static void write_source(FILE *stream, const struct finding *finding,
			 const struct markdown_options *options)
{
	const struct finding_frame *before = NULL;
	bool begun = false;

	if (!options->source)
		return;
	for (size_t i = 0; i < finding->access_count; i++) {
		const struct finding_frame *frame = finding_place_frame(&finding->accesses[i]);

		if (frame && frame->file && frame->line && !same_place(frame, before))
			begun |= write_excerpt(stream, frame, options, !begun);
		before = frame;
	}
}

struct modules {
	const struct finding_frame *frame[MODULES_MAX];
	size_t count;
};

static void add_module(struct modules *modules, const struct finding_frame *frame)
{
	if (!frame->module || modules->count == MODULES_MAX)
		return;
	for (size_t i = 0; i < modules->count; i++)
		if (strcmp(modules->frame[i]->module, frame->module) == 0)
			return;
	modules->frame[modules->count++] = frame;
}

static void write_file(FILE *stream, const struct finding_frame *frame,
		       const struct origins *origins)
{
	char package[256];
	const char *id = frame->build_id;

	fputs("| ", stream);
	write_code(stream, frame->module);
	fputs(" | ", stream);
	write_code(stream, id && *id ? id : "none");
	fputs(" | ", stream);
	if (!origins || origins_package(origins, frame, package, sizeof(package)))
		fputs("not known", stream);
	else
		utf8_print(stream, package);
	fputs(" |\n", stream);
}

static void write_versions(FILE *stream, const struct finding *finding,
			   const struct markdown_options *options)
{
	struct modules modules = {.count = 0};
	char kernel[256];

	for (size_t i = 0; i < finding->access_count; i++)
		for (size_t j = 0; j < finding->accesses[i].stack.count; j++)
			add_module(&modules, &finding->accesses[i].stack.frames[j]);
	fputs("## Versions\n\n", stream);
	if (modules.count)
		fputs("| file | build id | package |\n|---|---|---|\n", stream);
	for (size_t i = 0; i < modules.count; i++)
		write_file(stream, modules.frame[i], options->origins);
	if (modules.count)
		fputc('\n', stream);
	if (options->origins &&
	    origins_kernel(options->origins, finding, kernel, sizeof(kernel)) == 0) {
		utf8_print(stream, kernel);
		fputs("; ", stream);
	}
	fprintf(stream, "Trapline %s.\n\n", options->version);
}

static void write_method(FILE *stream, const struct finding *finding)
{
	static const char *const sure[] = {
		[FINDING_POSSIBLE] =
			"It happened as shown; whether it is meant to be so is not known.",
		[FINDING_LIKELY] = "What is known of the code says that it is a defect.",
		[FINDING_DEFINITE] =
			"It happened as shown, and the instructions themselves say that it is a defect.",
	};

	fputs("## How it was seen\n\n", stream);
	if (strcmp(finding->kind, FINDING_DATA_RACE) == 0)
		fputs("Hardware watchpoints on the memory and a hold of some microseconds: one thread "
		      "stood at its access, having done nothing since, when the other made its own, "
		      "so nothing orders the two. Nothing is inferred from locks. ",
		      stream);
	if (finding->certainty)
		fprintf(stream, "Class `%s`: %s\n", finding_class_name(finding->certainty),
			sure[finding->certainty]);
	if (finding->rank && finding->certainty == FINDING_POSSIBLE)
		fprintf(stream,
			"Rank %u among the possible: 10 is an update that can lose another thread's "
			"write, 40 a store that meets a load, 70 and more a meeting with an atomic "
			"operation, as programs mean it.\n",
			finding->rank);
	fprintf(stream,
		"\nId of the finding, the same in each run, and in each build in which these places "
		"in the code are the same: `%s`.\n",
		finding->id);
}

static void write_issue(FILE *stream, const struct finding *finding,
			const struct markdown_options *options)
{
	const struct text_options text = {.prefix = INDENT};

	write_title(stream, finding);
	write_opening(stream, finding, options->version);
	text_write(stream, finding, &text);
	fputc('\n', stream);
	write_source(stream, finding, options);
	write_versions(stream, finding, options);
	write_method(stream, finding);
}

int markdown_write(FILE *stream, const struct finding_set *set,
		   const struct markdown_options *options)
{
	for (size_t i = 0; i < set->count; i++) {
		if (i)
			fputs("\n---\n\n", stream);
		write_issue(stream, set->findings[i], options);
	}
	return ferror(stream) ? -EIO : 0;
}
