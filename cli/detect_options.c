/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `trapline race` and `trapline run`, from TRAPLINE_OPTIONS and the command line. */
#include "cli/detect_options.h"

#include "cli/attach.h"
#include "cli/command.h"
#include "cli/duration.h"
#include "cli/wrong_option.h"
#include "explore/heuristic.h"
#include "reader/open.h"
#include "record/utf8.h"
#include "strategy/strategies.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_MOST 1000000000u /* ns: what the library in a program allows at most */

enum option_code {
	OPTION_BUDGET = 256,
	OPTION_SLOTS,
	OPTION_SHOW,
	OPTION_SUPPRESSIONS,
	OPTION_GENERATE,
	OPTION_INCLUDE,
	OPTION_EXCLUDE,
	OPTION_SEED,
	OPTION_DURATION,
	OPTION_START_DELAY,
	OPTION_ERROR_EXITCODE,
	OPTION_STATS,
	OPTION_NO_FOLLOW,
	OPTION_RAW,
	OPTION_STRATEGY,
	OPTION_AGGRESSIVE,
	OPTION_NO_KERNEL,
	OPTION_TOOL,
	OPTION_TOOL_OPTION,
	OPTION_ALLOCATIONS,
	OPTION_PATCHABLE,
	OPTION_AREA,
	OPTION_BESIDE,
	OPTION_FOREGROUND,
	OPTION_ALL,
	OPTION_MEMORY,
	OPTION_WITHOUT,
	OPTION_AIM,
	OPTION_REMEMBER,
	OPTION_LOAN,
	OPTION_MAX_HOLD,
};

static const struct option long_options[] = {
	{"budget", required_argument, NULL, OPTION_BUDGET},
	{"loan", required_argument, NULL, OPTION_LOAN},
	{"max-hold", required_argument, NULL, OPTION_MAX_HOLD},
	{"slots", required_argument, NULL, OPTION_SLOTS},
	{"show", required_argument, NULL, OPTION_SHOW},
	{"suppressions", required_argument, NULL, OPTION_SUPPRESSIONS},
	{"gen-suppressions", required_argument, NULL, OPTION_GENERATE},
	{"include", required_argument, NULL, OPTION_INCLUDE},
	{"exclude", required_argument, NULL, OPTION_EXCLUDE},
	{"seed", required_argument, NULL, OPTION_SEED},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{"start-delay", required_argument, NULL, OPTION_START_DELAY},
	{"error-exitcode", required_argument, NULL, OPTION_ERROR_EXITCODE},
	{"output", required_argument, NULL, 'o'},
	{"stats", optional_argument, NULL, OPTION_STATS},
	{"no-follow", no_argument, NULL, OPTION_NO_FOLLOW},
	{"raw", no_argument, NULL, OPTION_RAW},
	{"strategy", required_argument, NULL, OPTION_STRATEGY},
	{"aggressive", no_argument, NULL, OPTION_AGGRESSIVE},
	{"no-kernel", no_argument, NULL, OPTION_NO_KERNEL},
	{"patchable", no_argument, NULL, OPTION_PATCHABLE},
	{"beside", no_argument, NULL, OPTION_BESIDE},
	{"foreground", no_argument, NULL, OPTION_FOREGROUND},
	{"allocations", required_argument, NULL, OPTION_ALLOCATIONS},
	{"all", no_argument, NULL, OPTION_ALL},
	{"memory", required_argument, NULL, OPTION_MEMORY},
	{"aim", required_argument, NULL, OPTION_AIM},
	{"remember", required_argument, NULL, OPTION_REMEMBER},
	{"without", required_argument, NULL, OPTION_WITHOUT},
	{"tool", required_argument, NULL, OPTION_TOOL},
	{"tool-option", required_argument, NULL, OPTION_TOOL_OPTION},
	/* Only the preload library passes this one (src/life/companion.c). */
	{"area", required_argument, NULL, OPTION_AREA},
	{"pid", required_argument, NULL, 'p'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void print_heap_help(void)
{
	fputs("  --all                 guard every block, not only those that are chosen\n"
	      "  --memory MIB          that guarding may keep from the program (default 32)\n"
	      "  --remember FILE       contexts with evidence, kept for later runs\n"
	      "  --strategy NAMES      the only ways to find who did it: watch, sample, page\n"
	      "  --without NAMES       not these\n",
	      stdout);
}

static void print_race_help(void)
{
	fputs("  --aim FILE            findings of an earlier run (-o) whose places are watched first\n"
	      "  --without NAME        this way of choosing what to watch is off; may be repeated\n"
	      "  --strategy stall-first  hold before the access, one slot: for comparison\n",
	      stdout);
}

static void print_help(const char *command)
{
	printf("usage: trapline %s [OPTIONS] -- PROGRAM [ARGUMENTS…]\n\n", command);
	if (strcmp(command, "run") == 0)
		puts("Without --tool or another option the program runs as it is, ready for\n"
		     "`trapline patch`.\n");
	if (strcmp(command, "uninit") == 0)
		fputs("  --all                 look at every block, not only at those that are chosen\n",
		      stdout);
	if (strcmp(command, "stack") == 0)
		fputs("  --all                 look at every frame, from the start, as far as slots go\n",
		      stdout);
	if (strcmp(command, "heap") == 0)
		print_heap_help();
	if (strcmp(command, "race") == 0 || strcmp(command, "run") == 0)
		print_race_help();
	if (strcmp(command, "uninit") != 0)
		fputs("  -p, --pid PID         a program that runs already, by number or name, until Ctrl-C\n",
		      stdout);
	fputs("  --budget PERCENT      of CPU time and of any thread's time (default 1)\n"
	      "  --loan SECONDS        of CPU time lent at the start (default: half of --budget, 0.5 at 1;\n"
	      "                        switches of threads may take as much again;\n"
	      "                        0.8 with --aggressive)\n"
	      "  --max-hold TIME       that a thread is held at once: 500us, 10ms (default: at most 1s)\n"
	      "  --aggressive          find as much as possible at up to twice the time, with all slots\n"
	      "  --slots N             hardware slots to use, 1 to 4 (default 3: one stays free)\n"
	      "  --show all|known      also findings of class `possible`; or those known of runtimes\n"
	      "  -o, --output FILE     findings as JSON Lines\n"
	      "  --error-exitcode N    end with status N when something was found\n"
	      "  --suppressions FILE   findings not to show; may be repeated\n"
	      "  --gen-suppressions FILE  write a suppression for each finding (- for stderr)\n"
	      "  --include GLOB        look at code of these modules only; may be repeated\n"
	      "  --exclude GLOB        not at code of these; may be repeated\n"
	      "  --start-delay SECONDS before the first watch\n"
	      "  --duration SECONDS    of watching\n"
	      "  --seed N              of the random choices\n"
	      "  --no-follow           not the programs that this one executes\n"
	      "  --no-kernel           not what system calls read and write\n"
	      "  --allocations WHICH   heap blocks whose allocation is remembered: sampled, all or none\n"
	      "  --raw                 addresses only; `trapline report` adds names later\n"
	      "  --foreground          end with the program's last process, not with its first\n"
	      "  --beside              for services: the program is the process that was started\n"
	      "  --patchable           ready for `trapline patch`, by one thread more\n"
	      "  --stats[=all]         what was counted, at the end; zeros, too\n"
	      "  -q, --quiet           no progress line, no summary\n"
	      "  --tool NAME|FILE.so,…  detectors to run besides; may be repeated\n"
	      "  --tool-option [TOOL.]NAME=VALUE  for the detectors, or for one of them\n\n"
	      "TRAPLINE_OPTIONS holds further options, which the command line overrides.\n",
	      stdout);
}

static int wrong(const char *option, const char *value, const char *expected)
{
	utf8_fprintf(stderr, "trapline: --%s '%s' is not %s\n", option, value, expected);
	return 2;
}

static bool parse_number(const char *text, double low, double high, double *number)
{
	char *end;

	errno = 0;
	*number = strtod(text, &end);
	return !errno && end != text && !*end && *number >= low && *number <= high;
}

static bool parse_whole(const char *text, double low, double high, double *number)
{
	return parse_number(text, low, high, number) && *number == (double)(uint64_t)*number;
}

static int add_glob(struct control_globs *globs, const char *glob)
{
	if (globs->count == CONTROL_GLOBS_MAX) {
		utf8_fprintf(stderr, "trapline: at most %d --include or --exclude are possible\n",
			     CONTROL_GLOBS_MAX);
		return 2;
	}
	globs->glob[globs->count++] = glob;
	return 0;
}

static int add_text(const char **list, unsigned *count, const char *option, const char *text)
{
	if (*count == DETECT_LIST_MAX) {
		utf8_fprintf(stderr, "trapline: at most %d --%s are possible\n", DETECT_LIST_MAX,
			     option);
		return 2;
	}
	list[(*count)++] = text;
	return 0;
}

static int take_number(struct detect_options *options, int option, const char *text)
{
	double number;

	switch (option) {
	case OPTION_BUDGET:
		if (!parse_number(text, 0.01, 100, &number))
			return wrong("budget", text, "a percentage from 0.01 to 100");
		options->control.budget = number;
		return 0;
	case OPTION_LOAN:
		if (!parse_number(text, 0, 1e6, &number))
			return wrong("loan", text, "a number of seconds");
		options->control.loan = number;
		return 0;
	case OPTION_SLOTS:
		if (!parse_whole(text, 1, 4, &number))
			return wrong("slots", text, "a whole number from 1 to 4");
		options->control.slots = (unsigned)number;
		options->slots_chosen = true;
		return 0;
	case OPTION_SEED:
		if (!parse_whole(text, 0, 1e15, &number))
			return wrong("seed", text, "a whole number from 0 to 1e15");
		options->control.seed = (uint64_t)number;
		return 0;
	case OPTION_DURATION:
		if (!duration_parse_seconds(text, &options->control.duration))
			return wrong("duration", text, "a number of seconds");
		return 0;
	case OPTION_START_DELAY:
		if (!duration_parse_seconds(text, &options->control.start_delay))
			return wrong("start-delay", text, "a number of seconds");
		return 0;
	case OPTION_AREA:
		if (!parse_whole(text, 3, 1e6, &number))
			return wrong("area", text, "a descriptor");
		options->control.area_fd = (int)number;
		return 0;
	default:
		if (!parse_whole(text, 0, 255, &number))
			return wrong("error-exitcode", text, "an exit status from 0 to 255");
		options->error_exitcode = (int)number;
		return 0;
	}
}

static int take_allocations(struct detect_options *options, const char *text)
{
	static const char *const names[] = {[CONTROL_ALLOCATIONS_NONE] = "none",
					    [CONTROL_ALLOCATIONS_SAMPLED] = "sampled",
					    [CONTROL_ALLOCATIONS_ALL] = "all"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			options->control.allocations = (enum control_allocations)i;
			return 0;
		}
	}
	return wrong("allocations", text, "`sampled`, `all` or `none`");
}

/* An option that one tool alone knows is handed to it as --tool-option NAME=VALUE would be. */
static int take_for_tool(struct detect_options *options, const char *name, const char *value)
{
	char *text;

	bool all = strcmp(name, "all") == 0;

	if (strcmp(options->command, "heap") != 0 &&
	    (!all ||
	     (strcmp(options->command, "uninit") != 0 && strcmp(options->command, "stack") != 0))) {
		utf8_fprintf(stderr, "trapline: --%s is an option of `trapline heap`%s\n", name,
			     all ? ", `trapline stack` and `trapline uninit`" : "");
		return 2;
	}
	if (asprintf(&text, "%s.%s=%s", options->command, name, value) < 0)
		return 2;
	return add_text(options->tool_option, &options->tool_options, name, text);
}

/* Aiming works only with tools that judge pairs and leave the choice of watches to the
 * controller. */
static int take_aim(struct detect_options *options, const char *path)
{
	if (strcmp(options->command, "race") != 0 && strcmp(options->command, "run") != 0) {
		fputs("trapline: --aim is an option of `trapline race` and `trapline run`\n",
		      stderr);
		return 2;
	}
	options->aim = path;
	return 0;
}

static int take_without(struct detect_options *options, const char *name)
{
	enum heuristic heuristic = heuristic_find(name);

	if (heuristic != HEURISTIC_NONE) {
		options->control.without |= 1u << heuristic;
		return 0;
	}
	utf8_fprintf(stderr, "trapline: --without '%s' is not one of these:\n", name);
	for (const struct heuristic_entry *entry = heuristic_table; entry->name; entry++)
		utf8_fprintf(stderr, "  %-18s %s\n", entry->name, entry->summary);
	return 2;
}

static int take_text(struct detect_options *options, int option, const char *text)
{
	switch (option) {
	case OPTION_SHOW:
		options->show_all = strcmp(text, "all") == 0;
		options->show_known = options->show_all || strcmp(text, "known") == 0;
		return options->show_known || strcmp(text, "default") == 0
			       ? 0
			       : wrong("show", text, "`all`, `known` or `default`");
	case OPTION_MEMORY:
		return take_for_tool(options, "memory", text);
	case OPTION_WITHOUT:
		return strcmp(options->command, "heap") == 0
			       ? take_for_tool(options, "without", text)
			       : take_without(options, text);
	case OPTION_STRATEGY:
		if (strcmp(options->command, "heap") == 0)
			return take_for_tool(options, "strategy", text);
		options->control.strategy = strcmp(text, "stall-first") == 0 ? &stall_first_strategy
									     : NULL;
		return options->control.strategy || strcmp(text, "default") == 0
			       ? 0
			       : wrong("strategy", text, "`stall-first` or `default`");
	case OPTION_REMEMBER:
		return take_for_tool(options, "remember", text);
	case OPTION_AIM:
		return take_aim(options, text);
	case OPTION_SUPPRESSIONS:
		return add_text(options->suppressions, &options->suppressions_count, "suppressions",
				text);
	case OPTION_TOOL_OPTION:
		if (strcspn(text, "=") == 0 || !strchr(text, '='))
			return wrong("tool-option", text, "NAME=VALUE");
		return add_text(options->tool_option, &options->tool_options, "tool-option", text);
	case OPTION_INCLUDE:
		return add_glob(&options->control.include, text);
	case OPTION_EXCLUDE:
		return add_glob(&options->control.exclude, text);
	case OPTION_ALLOCATIONS:
		return take_allocations(options, text);
	case OPTION_MAX_HOLD:
		if (!duration_parse(text, &options->control.hold_most) ||
		    options->control.hold_most > HOLD_MOST)
			return wrong("max-hold", text, "a time from 1ns to 1s, as 500us or 10ms");
		return 0;
	case OPTION_GENERATE:
		options->generate = text;
		return 0;
	case OPTION_TOOL:
		return add_text(options->tool, &options->tools, "tool", text);
	case 'o':
		options->output = text;
		return wrong_output(options->command, text);
	case 'p':
		return attach_find(text, &options->pid);
	default:
		return take_number(options, option, text);
	}
}

static int take(struct detect_options *options, int option, const char *text)
{
	switch (option) {
	case OPTION_STATS:
		return statistics_parse(text, &options->stats);
	case OPTION_NO_FOLLOW:
		options->control.follow = false;
		return 0;
	case OPTION_RAW:
		options->raw = true;
		return 0;
	case OPTION_PATCHABLE:
		options->patchable = true;
		return 0;
	case OPTION_FOREGROUND:
		options->foreground = true;
		return 0;
	case OPTION_BESIDE:
		options->beside = true;
		return 0;
	case OPTION_AGGRESSIVE:
		options->control.aggressive = true;
		options->control.budget = CONTROL_AGGRESSIVE_BUDGET;
		if (!options->slots_chosen)
			options->control.slots = 4;
		return 0;
	case OPTION_ALL:
		options->control.budget = CONTROL_AGGRESSIVE_BUDGET;
		if (!options->slots_chosen)
			options->control.slots = 4;
		return take_for_tool(options, "all", "1");
	case OPTION_NO_KERNEL:
		options->control.kernel = false;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	default:
		return take_text(options, option, text);
	}
}

#define SHORT_OPTIONS "+:o:p:qh"

static int parse(struct detect_options *options, int argc, char **argv, const char *command)
{
	int option, err;

	optind = 0;
	while ((option = getopt_long(argc, argv, SHORT_OPTIONS, long_options, NULL)) != -1) {
		if (option == 'h') {
			print_help(command);
			return 1;
		}
		if (option == '?' || option == ':')
			return wrong_option(command, argv, long_options, option);
		err = take(options, option, optarg);
		if (err)
			return err;
	}
	return 0;
}

/* -qo FILE: of several letters in one word, the last may take the next word as its value. */
static bool cluster_takes_next(const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const char *option = *letter == ':' ? NULL : strchr(SHORT_OPTIONS, *letter);

		if (!option)
			return false;
		if (option[1] == ':')
			return !letter[1];
	}
	return false;
}

bool detect_option_takes_next(const char *word)
{
	size_t length = strlen(word);

	if (word[0] == '-' && word[1] != '-')
		return cluster_takes_next(word);
	if (strncmp(word, "--", 2) != 0 || strchr(word, '='))
		return false;
	/* getopt_long() takes the beginning of a name for the whole, so this does, too. */
	for (const struct option *option = long_options; option->name; option++)
		if (strncmp(option->name, word + 2, length - 2) == 0)
			return option->has_arg == required_argument;
	return false;
}

static int complain_of_environment(const char *word)
{
	utf8_fprintf(stderr, "trapline: TRAPLINE_OPTIONS has '%s', which is no option; %s\n", word,
		     "correct it, or unset the variable");
	return STATUS_USAGE;
}

/* Words of TRAPLINE_OPTIONS, separated by blanks; they live as long as the program. */
static int parse_environment(struct detect_options *options, const char *command)
{
	const char *text = getenv("TRAPLINE_OPTIONS");
	static char *copy;
	char *words[2 * DETECT_LIST_MAX + 2], *word, *rest;
	int count = 1, err;

	if (!text || !*text)
		return 0;
	copy = strdup(text);
	if (!copy)
		return 2;
	words[0] = (char *)"TRAPLINE_OPTIONS";
	for (word = strtok_r(copy, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
		if (count > 2 * DETECT_LIST_MAX) {
			utf8_fprintf(stderr, "trapline: TRAPLINE_OPTIONS has more than %d words\n",
				     2 * DETECT_LIST_MAX);
			return STATUS_USAGE;
		}
		words[count++] = word;
	}
	words[count] = NULL;
	err = parse(options, count, words, command);
	return !err && optind < count ? complain_of_environment(words[optind]) : err;
}

int detect_options_parse(struct detect_options *options, int argc, char **argv)
{
	int err;

	memset(options, 0, sizeof(*options));
	control_options_init(&options->control);
	options->control.reader = SYMBOL_READER_SELF;
	options->control.allocations = CONTROL_ALLOCATIONS_SAMPLED;
	options->error_exitcode = -1;
	options->command = argv[0];
	err = parse_environment(options, argv[0]);
	if (!err)
		err = parse(options, argc, argv, argv[0]);
	if (err)
		return err;
	if (options->aim && options->control.strategy) {
		fputs("trapline: --aim does not go with --strategy stall-first\n", stderr);
		return 2;
	}
	options->named = argv[optind];
	if (options->control.area_fd >= 0)
		return 0;
	if (options->pid && argv[optind]) {
		fputs("trapline: -p takes the place of a program: give one of the two\n", stderr);
		return 2;
	}
	if (options->pid)
		return 0;
	options->program = argv + optind;
	if (!*options->program) {
		utf8_fprintf(stderr,
			     "trapline: which program? usage: trapline %s [OPTIONS] -- PROGRAM, or "
			     "-p PID for one that runs already\n",
			     argv[0]);
		return 2;
	}
	return 0;
}
