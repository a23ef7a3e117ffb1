/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `trapline report`. */
#include "cli/command.h"
#include "cli/report.h"
#include "cli/wrong_option.h"
#include "record/utf8.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(FILE *to)
{
	fputs("usage: trapline report [options] FILE...\n"
	      "       trapline report [options] --store STORE [FILE...]\n\n"
	      "Symbolise, merge, deduplicate and render findings. A FILE is JSON Lines, as -o FILE\n"
	      "of the other commands writes it, or a store made by --store; - is standard input.\n\n"
	      "  --format FORMAT      text (default), summary, jsonl, sarif, html,\n"
	      "                       markdown (bug reports) or dot (flow)\n"
	      "  --issue ID           a bug report of one finding: the same as --query id=ID with\n"
	      "                       --format markdown\n"
	      "  -o, --output FILE    write there, not to standard output; mode 0600\n"
	      "  --store STORE        merge FILEs into a SQLite file or a PostgreSQL server\n"
	      "                       (postgres://... or \"host=... dbname=...\"); without FILEs,\n"
	      "                       report what it holds\n"
	      "  --query KEY=VALUE    report only what holds for all of these: new-since=DATE,\n"
	      "                       new-since-build=ID, gone-since=DATE, gone-since-build=ID,\n"
	      "                       program, file, function, module, object, host, kind, id=GLOB,\n"
	      "                       build=ID, class=NAME\n"
	      "  --baseline FILE      report only what is not in FILE; exit status 3 if there is any\n"
	      "  --error-exitcode N   exit status N when anything is reported\n"
	      "  --suppressions FILE  leave out what its rules name; may be repeated\n"
	      "  --gen-suppressions   write suppressions for what would be reported\n"
	      "  --redact             leave out values, addresses, directories and hosts\n"
	      "  --symbols DIR        look for debug files there too; may be repeated\n"
	      "  --sources DIR        look for source files there too; may be repeated\n"
	      "  --title TEXT         title of the HTML page\n",
	      to);
}

enum option_code {
	OPTION_FORMAT = 256,
	OPTION_STORE,
	OPTION_QUERY,
	OPTION_ISSUE,
	OPTION_BASELINE,
	OPTION_ERROR_EXITCODE,
	OPTION_SUPPRESSIONS,
	OPTION_GEN_SUPPRESSIONS,
	OPTION_REDACT,
	OPTION_SYMBOLS,
	OPTION_SOURCES,
	OPTION_TITLE,
};

static const struct option long_options[] = {
	{"format", required_argument, NULL, OPTION_FORMAT},
	{"output", required_argument, NULL, 'o'},
	{"store", required_argument, NULL, OPTION_STORE},
	{"query", required_argument, NULL, OPTION_QUERY},
	{"issue", required_argument, NULL, OPTION_ISSUE},
	{"baseline", required_argument, NULL, OPTION_BASELINE},
	{"error-exitcode", required_argument, NULL, OPTION_ERROR_EXITCODE},
	{"suppressions", required_argument, NULL, OPTION_SUPPRESSIONS},
	{"gen-suppressions", no_argument, NULL, OPTION_GEN_SUPPRESSIONS},
	{"redact", no_argument, NULL, OPTION_REDACT},
	{"symbols", required_argument, NULL, OPTION_SYMBOLS},
	{"sources", required_argument, NULL, OPTION_SOURCES},
	{"title", required_argument, NULL, OPTION_TITLE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int usage_error(const char *format, const char *word)
{
	fputs("trapline report: ", stderr);
	utf8_fprintf(stderr, format, word);
	fputs("; `trapline report --help` lists the options\n", stderr);
	return STATUS_USAGE;
}

static int parse_format(struct report_options *options, const char *name)
{
	static const struct {
		const char *name;
		enum report_format format;
	} formats[] = {{"text", REPORT_TEXT},	{"summary", REPORT_SUMMARY},
		       {"jsonl", REPORT_JSONL}, {"sarif", REPORT_SARIF},
		       {"html", REPORT_HTML},	{"markdown", REPORT_MARKDOWN},
		       {"dot", REPORT_DOT}};
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(formats[i].name, name)) {
			options->format = formats[i].format;
			return 0;
		}
	}
	return usage_error(
		"'%s' is not a format: text, summary, jsonl, sarif, html, markdown or dot", name);
}

static int add_to(const char **list, unsigned *count, const char *word)
{
	if (*count == REPORT_DIRECTORIES_MAX)
		return usage_error("there are too many words like '%s'", word);
	list[(*count)++] = word;
	return 0;
}

static int parse_status(struct report_options *options, const char *word)
{
	char *end;
	long status = strtol(word, &end, 10);

	if (*end || end == word || status < 0 || status > 255)
		return usage_error("'%s' is not an exit status from 0 to 255", word);
	options->error_exitcode = (int)status;
	return 0;
}

static int parse_query(struct report_options *options, const char *word)
{
	struct report_error error;

	if (!query_add(&options->query, word, &error))
		return 0;
	return usage_error("%s", error.text);
}

static int choose_issue(struct report_options *options, const char *id)
{
	static char term[64];

	if (!*id || strspn(id, "0123456789abcdef*") != strlen(id) || strlen(id) >= FINDING_ID_SIZE)
		return usage_error("'%s' is no id of a finding, as 0123456789abcdef", id);
	options->issue = id;
	snprintf(term, sizeof(term), "id=%s", id);
	options->format = REPORT_MARKDOWN;
	return parse_query(options, term);
}

static int take_option(struct report_options *options, int code, const char *word)
{
	switch (code) {
	case OPTION_FORMAT:
		return parse_format(options, word);
	case 'o':
		options->output = word;
		return wrong_output("report", word);
	case OPTION_STORE:
		options->store = word;
		return 0;
	case OPTION_QUERY:
		return parse_query(options, word);
	case OPTION_ISSUE:
		return choose_issue(options, word);
	case OPTION_BASELINE:
		options->baseline = word;
		return 0;
	case OPTION_ERROR_EXITCODE:
		return parse_status(options, word);
	case OPTION_SUPPRESSIONS:
		return add_to(options->suppressions, &options->suppression_count, word);
	case OPTION_GEN_SUPPRESSIONS:
		options->format = REPORT_SUPPRESSIONS;
		return 0;
	case OPTION_REDACT:
		options->redact = true;
		return 0;
	case OPTION_SYMBOLS:
		return add_to(options->symbols, &options->symbol_count, word);
	case OPTION_SOURCES:
		return add_to(options->source_directories, &options->source_count, word);
	default:
		options->title = word;
		return 0;
	}
}

/* Takes the format from the file's name: -o page.html needs no --format. */
static void guess_format(struct report_options *options)
{
	static const struct {
		const char *suffix;
		enum report_format format;
	} suffixes[] = {{".html", REPORT_HTML},	  {".htm", REPORT_HTML},
			{".md", REPORT_MARKDOWN}, {".sarif", REPORT_SARIF},
			{".jsonl", REPORT_JSONL}, {".ndjson", REPORT_JSONL}};
	const char *dot = options->output ? strrchr(options->output, '.') : NULL;
	size_t i;

	for (i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strcmp(dot, suffixes[i].suffix))
			options->format = suffixes[i].format;
}

int report_parse_options(struct report_options *options, int argc, char **argv)
{
	int code, status;

	*options = (struct report_options){.error_exitcode = -1};
	optind = 0;
	while ((code = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
		if (code == 'h') {
			print_help(stdout);
			return -1;
		}
		if (code == '?' || code == ':')
			return wrong_option("report", argv, long_options, code);
		status = take_option(options, code, optarg);
		if (status)
			return status;
	}
	if (!options->format)
		guess_format(options);
	options->files = argv + optind;
	options->file_count = argc - optind;
	if (!options->file_count && !options->store)
		return usage_error("%s", "name a file of findings, or - for standard input");
	return 0;
}
