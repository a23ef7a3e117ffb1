/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of `trapline report` share. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdbool.h>

#include "record/aim.h"
#include "store/query.h"
#include "store/set.h"

enum report_format {
	REPORT_UNCHOSEN,
	REPORT_TEXT,
	REPORT_SUMMARY,
	REPORT_JSONL,
	REPORT_SARIF,
	REPORT_HTML,
	REPORT_DOT,
	REPORT_MARKDOWN,
	REPORT_SUPPRESSIONS,
};

#define REPORT_DIRECTORIES_MAX 64

struct report_options {
	enum report_format format;
	const char *output; /* NULL: standard output */
	const char *store;
	const char *baseline;
	const char *title;
	const char *issue; /* the id of the one finding that is wanted; NULL: all are */
	const char *suppressions[REPORT_DIRECTORIES_MAX + 1];
	unsigned suppression_count;
	const char *symbols[REPORT_DIRECTORIES_MAX + 1]; /* NULL-terminated */
	unsigned symbol_count;
	const char *source_directories[REPORT_DIRECTORIES_MAX + 1]; /* NULL-terminated */
	unsigned source_count;
	struct query query;
	bool redact;
	int error_exitcode; /* -1: not given */
	char **files;
	int file_count;
};

/* 0; -1: help was printed; else an exit status: the command line is wrong. */
int report_parse_options(struct report_options *options, int argc, char **argv);

struct origins;
struct symbol_session;

/* What earlier runs told of the findings that they aimed at. */
struct report_aims {
	struct aim_told *told;
	size_t count, capacity;
};

/* What is told beside the findings, and what it is known by. */
struct report_context {
	struct report_aims aims;
	struct origins *origins;
	struct symbol_session *symbols;
};

/* Renders the folded set. False: it could not be written, which was said. */
bool report_output(const struct report_options *options, const struct finding_set *set,
		   const struct report_context *context);

#endif
