/* SPDX-License-Identifier: Apache-2.0 */
/* Where `trapline report` writes, and which renderer writes it. */
#include "cli/output_file.h"
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jsonl/aim.h"
#include "record/utf8.h"
#include "report/flow.h"
#include "store/group.h"
#include "report/html.h"
#include "jsonl/jsonl.h"
#include "report/markdown.h"
#include "report/sarif.h"
#include "suppression/suppressions.h"
#include "report/text.h"
#include "source/source.h"

static int read_source(void *arg, const char *file, unsigned line, char *text, size_t size)
{
	return symbol_source_line(arg, file, line, text, size);
}

static int write_jsonl(FILE *stream, const struct finding_set *set, const struct report_aims *aims)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < set->count; i++)
		err = jsonl_write(stream, set->findings[i]);
	for (i = 0; !err && i < aims->count; i++)
		err = jsonl_write_aim(stream, &aims->told[i]);
	return err;
}

/* Writes a line above the findings of class `possible` that are about one object. */
static void write_group(FILE *stream, const struct finding_set *set, size_t at,
			const struct text_options *options)
{
	char name[GROUP_NAME_SIZE], other[GROUP_NAME_SIZE] = "";
	size_t count = 1;

	finding_group(set->findings[at], name);
	if (at > 0)
		finding_group(set->findings[at - 1], other);
	if (!name[0] || strcmp(name, other) == 0)
		return;
	for (; at + count < set->count; count++) {
		finding_group(set->findings[at + count], other);
		if (strcmp(name, other) != 0)
			break;
	}
	if (count > 1)
		text_write_heading(stream, name, count, options);
}

static void write_whole(FILE *stream, const struct finding_set *set, size_t at,
			const struct text_options *options)
{
	write_group(stream, set, at, options);
	text_write(stream, set->findings[at], options);
}

static void write_aims(FILE *stream, const struct report_aims *aims)
{
	if (aims->count)
		fprintf(stream, "aimed at %zu finding%s:\n", aims->count,
			aims->count == 1 ? "" : "s");
	for (size_t i = 0; i < aims->count; i++)
		aim_write_text(stream, &aims->told[i]);
}

static int write_text(FILE *stream, const struct finding_set *set, const struct report_aims *aims,
		      enum report_format format, struct symbol_session *sources)
{
	struct text_options options = {.color = text_wants_color(stream),
				       .sources = sources,
				       .source = read_source,
				       .source_arg = sources};
	size_t i;

	for (i = 0; i < set->count; i++) {
		if (format == REPORT_SUPPRESSIONS)
			suppressions_generate(stream, set->findings[i]);
		else if (format == REPORT_SUMMARY)
			text_write_summary(stream, set->findings[i], &options);
		else
			write_whole(stream, set, i, &options);
	}
	if (format != REPORT_SUPPRESSIONS)
		write_aims(stream, aims);
	return 0;
}

/* Are all findings `trapline flow`'s? These have a page of their own. */
static bool is_flow(const struct finding_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (!flow_is_finding(set->findings[i]))
			return false;
	return set->count > 0;
}

static int render(const struct report_options *options, const struct finding_set *set,
		  const struct report_context *context, FILE *stream)
{
	struct sarif_options sarif = {TRAPLINE_VERSION, NULL};
	struct html_options html = {
		.title = options->title,
		.version = TRAPLINE_VERSION,
		.source = options->redact ? NULL : read_source,
		.source_arg = context->symbols,
		.source_context = 3,
	};
	struct markdown_options markdown = {
		.version = TRAPLINE_VERSION,
		.source = html.source,
		.source_arg = context->symbols,
		.source_context = 3,
		.origins = context->origins,
	};
	struct flow_view flow = {.findings = set->findings, .count = set->count};
	char *root;
	int err;

	if (is_flow(set) && options->format == REPORT_HTML) {
		flow_write_html(stream, &flow);
		return ferror(stream) ? -EIO : 0;
	}
	switch (options->format) {
	case REPORT_DOT:
		flow_write_dot(stream, &flow);
		return ferror(stream) ? -EIO : 0;
	case REPORT_JSONL:
		return write_jsonl(stream, set, &context->aims);
	case REPORT_SARIF:
		/* Paths below the working directory are made relative: code scanning wants them
		 * so. */
		root = getcwd(NULL, 0);
		sarif.root = root;
		err = sarif_write(stream, set, &sarif);
		free(root);
		return err;
	case REPORT_HTML:
		return html_write(stream, set, &html);
	case REPORT_MARKDOWN:
		return markdown_write(stream, set, &markdown);
	default:
		return write_text(stream, set, &context->aims, options->format,
				  options->redact ? NULL : context->symbols);
	}
}

/* Says what could not be written to standard output, so that it is not said again when that is
 * closed. */
static bool complain(const char *path, int err)
{
	if (!path) {
		__fpurge(stdout);
		clearerr(stdout);
		path = "standard output";
	}
	utf8_fprintf(stderr, "trapline report: cannot write %s: %s\n", path, strerror(-err));
	return false;
}

/* A stream that refused a part of a text refuses the rest too, and only flushing it says why. Until
 * then its error is -EIO. */
static int flush(FILE *stream, int err)
{
	if (fflush(stream) && (!err || err == -EIO))
		return -errno;
	return !err && ferror(stream) ? -EIO : err;
}

static bool output_to_file(const struct report_options *options, const struct finding_set *set,
			   const struct report_context *context)
{
	char *path = output_file_replaceable(options->output), *beside = NULL;
	FILE *stream = path ? output_file_open_beside(path, &beside)
			    : output_file_open_silently(options->output);
	int err = stream ? render(options, set, context, stream) : -errno;

	if (stream)
		err = flush(stream, err);
	if (stream && !err && path && fsync(fileno(stream)))
		err = -errno;
	if (stream && fclose(stream) && !err)
		err = -errno;
	if (!err && beside && rename(beside, path))
		err = -errno;
	if (err && stream && beside)
		unlink(beside);
	free(beside);
	free(path);
	return err ? complain(options->output, err) : true;
}

bool report_output(const struct report_options *options, const struct finding_set *set,
		   const struct report_context *context)
{
	int err;

	if (options->output)
		return output_to_file(options, set, context);
	err = flush(stdout, render(options, set, context, stdout));
	return err ? complain(NULL, err) : true;
}
