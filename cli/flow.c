/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline flow`: where values come from and go to, who shares what, what is wasted. */
#include "flow/flow.h"
#include "record/utf8.h"
#include "traffic/traffic.h"

#include "cli/command.h"
#include "cli/detect.h"
#include "cli/detect_options.h"
#include "report/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct question {
	const char *name;
	const struct tl_tool *tool;
	/* the tool of a question about an expression that is heap:…; NULL: there is none */
	const struct tl_tool *heap_tool;
} questions[] = {
	{"from", &flow_from_tool, &flow_from_heap_tool},
	{"to", &flow_to_tool, &flow_to_heap_tool},
	{"share", &flow_share_tool, NULL},
	{"waste", &flow_waste_tool, NULL},
	{"unread", &flow_unread_tool, NULL},
	{"map", &flow_map_tool, NULL},
};

static const char *const bys[] = {
	[FLOW_BY_FUNCTION] = "function", [FLOW_BY_MODULE] = "module", [FLOW_BY_FILE] = "file",
	[FLOW_BY_LINE] = "line",	 [FLOW_BY_THREAD] = "thread",
};

typedef void write_fn(FILE *stream, const struct flow_view *view);

struct choice {
	bool expression; /* the question is about an expression */
	bool later;
	enum flow_by by;
	write_fn *write; /* NULL: JSON Lines */
};

static void print_help(void)
{
	fputs("usage: trapline flow from EXPR [OPTIONS] -- PROGRAM [ARGUMENTS…]\n"
	      "       trapline flow to EXPR   [OPTIONS] -- PROGRAM [ARGUMENTS…]\n"
	      "       trapline flow share [OPTIONS] -- PROGRAM [ARGUMENTS…]\n"
	      "       trapline flow waste [OPTIONS] -- PROGRAM [ARGUMENTS…]\n"
	      "       trapline flow unread [OPTIONS] -- PROGRAM [ARGUMENTS…]\n"
	      "       trapline flow map   [OPTIONS] -- PROGRAM [ARGUMENTS…]\n\n"
	      "  from EXPR             which code, from which source, made the values found in EXPR,\n"
	      "                        which is what `trapline watch` takes\n"
	      "  to EXPR               which code reads them, and what becomes of them\n"
	      "  share                 which threads share which cache lines, truly or falsely\n"
	      "  waste                 stores nobody reads, stores of what is there, loads of what\n"
	      "                        is known\n"
	      "  unread                which memory of the heap is freed before anybody has read it\n"
	      "  map                   which code reads what which code has written\n\n"
	      "  --later               with from and to: names that are unknown at the start may come\n"
	      "                        with a library or program that is loaded later\n"
	      "  --by WHAT             nodes of a map: function (default), line, file, module, thread\n"
	      "  --format FORMAT       of --output: jsonl (default), html, dot, text\n"
	      "  -o, --output FILE     all that was found\n"
	      "  --budget PERCENT      of CPU time (default 1)\n"
	      "  --aggressive          as many samples and watches as there can be\n\n"
	      "The other options are those of `trapline race`; `trapline race --help` lists them.\n",
	      stdout);
}

static int wrong(const char *option, const char *value, const char *expected)
{
	utf8_fprintf(stderr, "trapline flow: %s '%s' is not %s\n", option, value, expected);
	return STATUS_USAGE;
}

static int take_by(struct choice *choice, const char *value)
{
	for (unsigned i = 0; i < sizeof(bys) / sizeof(bys[0]); i++)
		if (strcmp(bys[i], value) == 0) {
			choice->by = (enum flow_by)i;
			return 0;
		}
	return wrong("--by", value, "function, line, file, module or thread");
}

static int take_format(struct choice *choice, const char *value)
{
	static const struct {
		const char *name;
		write_fn *write;
	} formats[] = {
		{"jsonl", NULL},
		{"html", flow_write_html},
		{"dot", flow_write_dot},
		{"text", flow_write_text},
	};

	for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i].name, value) == 0) {
			choice->write = formats[i].write;
			return 0;
		}
	return wrong("--format", value, "jsonl, html, dot or text");
}

/* The value of option `name` at argv[*at], which stands in this word or the next. NULL: the word is
 * another option. */
static const char *value_of(char **argv, int *at, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(argv[*at], name, length) != 0)
		return NULL;
	if (argv[*at][length] == '=')
		return argv[*at] + length + 1;
	if (argv[*at][length] || !argv[*at + 1])
		return NULL;
	return argv[++*at];
}

/* Takes our own options out of argv; the rest is for detect_run(). All words from `--` on, or from
 * the first that is no option, are the program's. */
static int take_options(struct choice *choice, int argc, char **argv, char **rest, int *count)
{
	int err = 0, i = 0;

	for (; i < argc && !err && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
		const char *value;

		if ((value = value_of(argv, &i, "--by"))) {
			err = take_by(choice, value);
		} else if ((value = value_of(argv, &i, "--format"))) {
			err = take_format(choice, value);
		} else if (choice->expression && strcmp(argv[i], "--later") == 0) {
			choice->later = true;
		} else {
			rest[(*count)++] = argv[i];
			if (detect_option_takes_next(argv[i]) && i + 1 < argc)
				rest[(*count)++] = argv[++i];
		}
	}
	while (i < argc)
		rest[(*count)++] = argv[i++];
	return err;
}

static void show(void *context, FILE *stream, struct finding *const *findings, size_t count)
{
	const struct choice *choice = context;
	struct flow_view view = {.findings = findings, .count = count, .by = choice->by};

	flow_write_text(stream, &view);
}

static void write(void *context, FILE *stream, struct finding *const *findings, size_t count)
{
	const struct choice *choice = context;
	struct flow_view view = {.findings = findings, .count = count, .by = choice->by};

	choice->write(stream, &view);
}

static const struct question *find_question(const char *name)
{
	for (unsigned i = 0; name && i < sizeof(questions) / sizeof(questions[0]); i++)
		if (strcmp(questions[i].name, name) == 0)
			return &questions[i];
	return NULL;
}

/* `rest` has room for the words of argv, and for two more. */
static int ask_with(const struct question *question, const char *expression, int argc, char **argv,
		    char **rest)
{
	struct choice choice = {.expression = expression, .by = FLOW_BY_FUNCTION};
	char option[1024];
	const char *options[] = {expression ? option : NULL, NULL, NULL};
	struct detect_view view = {.tool_options = options, .show = show, .context = &choice};
	int count = 1, err = take_options(&choice, argc, argv, rest, &count);

	rest[0] = (char *)"flow";
	if (err)
		return err;
	if (expression &&
	    (size_t)snprintf(option, sizeof(option), "expression=%s", expression) >= sizeof(option))
		return wrong("expression", expression, "as short as it must be");
	if (choice.later)
		options[1] = "later=1";
	if (choice.write)
		view.write = write;
	if (expression && strncmp(expression, "heap:", 5) == 0)
		return detect_run(count, rest, question->heap_tool, &view);
	return detect_run(count, rest, question->tool, &view);
}

static int ask(const struct question *question, const char *expression, int argc, char **argv)
{
	char **rest = calloc((size_t)argc + 2, sizeof(*rest));
	int status = rest ? ask_with(question, expression, argc, argv, rest) : STATUS_FAILED;

	free(rest);
	return status;
}

int command_flow(int argc, char **argv)
{
	const struct question *question = find_question(argv[1]);
	int first = 2;

	if (argc > 1 && asks_for_help(argv[question && argc > 2 ? 2 : 1])) {
		print_help();
		return STATUS_OK;
	}
	if (argc > 1 && argv[1][0] == '-' && strcmp(argv[1], "--") != 0)
		return wrong("option", argv[1],
			     "what comes first: from, to, share, waste, unread or map");
	if (!question) {
		fputs("trapline: which question? usage: trapline flow from EXPR|to EXPR|share|waste|unread|map [OPTIONS] -- "
		      "PROGRAM\n",
		      stderr);
		return STATUS_USAGE;
	}
	/* No expression begins with '-', so that word is an option. */
	if (question->heap_tool && (argc < 3 || argv[2][0] == '-')) {
		utf8_fprintf(
			stderr,
			"trapline: of what? usage: trapline flow %s EXPR [OPTIONS] -- PROGRAM\n",
			question->name);
		return STATUS_USAGE;
	}
	first += question->heap_tool != NULL;
	return ask(question, question->heap_tool ? argv[2] : NULL, argc - first, argv + first);
}
