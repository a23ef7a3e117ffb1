/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `trapline throttle`: limits, whose they are, and either -p PID or -- PROGRAM. */
#include "cli/attach.h"
#include "cli/duration.h"
#include "cli/throttle_options.h"

#include "cli/wrong_option.h"
#include "record/utf8.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

#define CPU_MIN 0.1
#define CPU_MAX 1e6
#define COUNT_MAX 1e15

enum option_code {
	OPTION_CPU = 256,
	OPTION_FAULTS,
	OPTION_LIMIT,
	OPTION_THREADS,
	OPTION_PER,
	OPTION_BURST,
	OPTION_PERIOD,
	OPTION_AND,
	OPTION_DURATION,
	OPTION_NO_FOLLOW,
	OPTION_PATCHABLE,
	OPTION_FOREGROUND,
	OPTION_STATS,
};

static const struct option long_options[] = {
	{"cpu", required_argument, NULL, OPTION_CPU},
	{"faults", required_argument, NULL, OPTION_FAULTS},
	{"limit", required_argument, NULL, OPTION_LIMIT},
	{"threads", required_argument, NULL, OPTION_THREADS},
	{"per", required_argument, NULL, OPTION_PER},
	{"burst", required_argument, NULL, OPTION_BURST},
	{"period", required_argument, NULL, OPTION_PERIOD},
	{"and", no_argument, NULL, OPTION_AND},
	{"pid", required_argument, NULL, 'p'},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{"no-follow", no_argument, NULL, OPTION_NO_FOLLOW},
	{"patchable", no_argument, NULL, OPTION_PATCHABLE},
	{"foreground", no_argument, NULL, OPTION_FOREGROUND},
	{"stats", optional_argument, NULL, OPTION_STATS},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const struct {
	unsigned counter;
	const char *name;
} counters[] = {
	{TL_CPU_TIME, "cpu"},
	{TL_PAGE_FAULTS, "faults"},
	{TL_CYCLES, "cycles"},
	{TL_INSTRUCTIONS, "instructions"},
	{TL_CACHE_MISSES, "cache-misses"},
	{TL_BRANCH_MISSES, "branch-misses"},
};
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

/* The limits since the last --and, and the options that apply to all of them. */
struct group {
	unsigned first;
	const char *threads;
	enum area_limit_each each;
	const char *burst, *period;
};

static void print_help(void)
{
	fputs("usage: trapline throttle LIMIT… [OPTIONS] -- PROGRAM [ARGUMENTS…]\n"
	      "       trapline throttle -p PID [LIMIT…] [OPTIONS]\n\n"
	      "A thread that is over a limit pauses until the budget has refilled. LIMITs:\n"
	      "  --cpu PERCENT         CPU time, of one CPU: 25%, 150%; with -p also `off`\n"
	      "  --faults N/s          page faults a second: 500/s, 2k/s\n"
	      "  --limit COUNTER=N/s   cycles, instructions, cache-misses, branch-misses\n\n"
	      "  --threads GLOB        only for threads of such names\n"
	      "  --per WHAT            who shares the budget: tree (the program and its children,\n"
	      "                        the default), process, thread\n"
	      "  --burst AMOUNT        that may be used at once after idling: 200ms of CPU time, or\n"
	      "                        a count (default: 50 ms of the budget)\n"
	      "  --period AMOUNT       between two looks at what was used (default: up to 2ms)\n"
	      "  --and                 what follows is another limit, for other threads\n"
	      "  -p, --pid PID         a program that runs already, by number or name: limited until\n"
	      "                        Ctrl-C; where it runs under trapline, its limits are changed,\n"
	      "                        or shown\n"
	      "  --duration SECONDS    with -p: of the limits, which end then as at Ctrl-C\n"
	      "  --no-follow           not the programs that this one executes\n"
	      "  --foreground          end with the program's last process, not with its first\n"
	      "  --patchable           ready for `trapline patch`, by one thread more\n"
	      "  --stats[=all]         what the limits did, at the end; zeros, too\n",
	      stdout);
}

const char *throttle_counter_name(unsigned counter)
{
	for (size_t i = 0; i < COUNTERS; i++)
		if (counters[i].counter == counter)
			return counters[i].name;
	return NULL;
}

static int wrong(const char *option, const char *value, const char *expected)
{
	utf8_fprintf(stderr, "trapline: --%s '%s' is not %s\n", option, value, expected);
	return 2;
}

/* Reads a number above 0; *end is the text behind it. */
static bool parse_number(const char *text, double *number, const char **rest)
{
	char *end;

	errno = 0;
	*number = strtod(text, &end);
	*rest = end;
	return !errno && end != text && *number > 0;
}

static bool parse_percent(const char *text, double *percent)
{
	const char *rest;

	return parse_number(text, percent, &rest) && strcmp(rest, *rest == '%' ? "%" : "") == 0 &&
	       *percent >= CPU_MIN && *percent <= CPU_MAX;
}

static bool scale(double *number, const char **rest)
{
	static const char suffixes[] = "kMG";
	const char *suffix = **rest ? strchr(suffixes, **rest) : NULL;

	if (!suffix)
		return false;
	for (const char *at = suffixes; at <= suffix; at++)
		*number *= 1000;
	++*rest;
	return true;
}

/* 500, 2k, 1.5M; "/s" may follow a rate. */
static bool parse_count(const char *text, const char *unit, uint64_t *count)
{
	const char *rest;
	double number;

	if (!parse_number(text, &number, &rest))
		return false;
	scale(&number, &rest);
	if (*rest && strcmp(rest, unit) != 0)
		return false;
	if (!(number >= 1 && number <= COUNT_MAX))
		return false;
	*count = (uint64_t)number;
	return true;
}

static int add_limit(struct throttle_command *command, unsigned counter, uint64_t budget)
{
	if (command->limits == AREA_LIMITS) {
		utf8_fprintf(stderr, "trapline: at most %d limits are possible\n", AREA_LIMITS);
		return 2;
	}
	command->limit[command->limits++] = (struct limit){.counter = counter, .budget = budget};
	return 0;
}

static int take_cpu(struct throttle_command *command, const char *text)
{
	double percent = 0;

	if (strcmp(text, "off") != 0 && !parse_percent(text, &percent))
		return wrong("cpu", text, "a percentage of one CPU, from 0.1%");
	return add_limit(command, TL_CPU_TIME, (uint64_t)(percent * 1e7));
}

static int take_rate(struct throttle_command *command, const char *option, unsigned counter,
		     const char *text)
{
	uint64_t budget = 0;

	if (strcmp(text, "off") != 0 && !parse_count(text, "/s", &budget))
		return wrong(option, text, "a number a second, such as 500/s");
	return add_limit(command, counter, budget);
}

static int take_limit(struct throttle_command *command, const char *text)
{
	size_t length = strcspn(text, "=");

	if (!text[length])
		return wrong("limit", text, "COUNTER=N/s");
	for (size_t i = 0; i < COUNTERS; i++) {
		if (strlen(counters[i].name) != length ||
		    strncmp(counters[i].name, text, length) != 0)
			continue;
		if (counters[i].counter == TL_CPU_TIME)
			return take_cpu(command, text + length + 1);
		return take_rate(command, "limit", counters[i].counter, text + length + 1);
	}
	utf8_fprintf(stderr, "trapline: %.*s cannot be limited; these can: ", (int)length, text);
	for (size_t i = 0; i < COUNTERS; i++)
		utf8_fprintf(stderr, "%s%s", i ? ", " : "", counters[i].name);
	fputs("\n", stderr);
	return 2;
}

static int take_per(struct group *group, const char *text)
{
	static const char *const names[] = {[AREA_EACH_TREE] = "tree",
					    [AREA_EACH_PROCESS] = "process",
					    [AREA_EACH_THREAD] = "thread"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			group->each = (enum area_limit_each)i;
			return 0;
		}
	return wrong("per", text, "tree, process or thread");
}

static int parse_amount(const struct limit *limit, const char *option, const char *text,
			uint64_t *amount)
{
	if (!text)
		return 0;
	if (limit->counter == TL_CPU_TIME)
		return duration_parse(text, amount) ? 0
						    : wrong(option, text, "a time, such as 20ms");
	return parse_count(text, "", amount) ? 0 : wrong(option, text, "a number");
}

/* Completes the group: gives each of its limits the options that apply to all. */
static int end_group(struct throttle_command *command, struct group *group)
{
	int err = 0;

	if (group->first == command->limits && (group->threads || group->burst || group->period)) {
		fputs("trapline: which limit? say --cpu, --faults or --limit\n", stderr);
		return 2;
	}
	if (command->limits - group->first > 1 && (group->burst || group->period)) {
		fputs("trapline: --burst and --period are for one limit: put --and between two\n",
		      stderr);
		return 2;
	}
	for (unsigned i = group->first; i < command->limits && !err; i++) {
		struct limit *limit = &command->limit[i];

		limit->threads = group->threads;
		limit->each = group->each;
		err = parse_amount(limit, "burst", group->burst, &limit->burst);
		if (!err)
			err = parse_amount(limit, "period", group->period, &limit->period);
	}
	*group = (struct group){.first = command->limits};
	return err;
}

static int take(struct throttle_command *command, struct group *group, int option, const char *text)
{
	switch (option) {
	case OPTION_CPU:
		return take_cpu(command, text);
	case OPTION_FAULTS:
		return take_rate(command, "faults", TL_PAGE_FAULTS, text);
	case OPTION_LIMIT:
		return take_limit(command, text);
	case OPTION_THREADS:
		group->threads = text;
		return strlen(text) < AREA_PATTERN
			       ? 0
			       : wrong("threads", text, "shorter than 64 bytes");
	case OPTION_PER:
		return take_per(group, text);
	case OPTION_BURST:
		group->burst = text;
		return 0;
	case OPTION_PERIOD:
		group->period = text;
		return 0;
	case OPTION_AND:
		return end_group(command, group);
	case OPTION_DURATION:
		return duration_parse_seconds(text, &command->duration)
			       ? 0
			       : wrong("duration", text, "a number of seconds");
	case OPTION_FOREGROUND:
		command->foreground = true;
		return 0;
	case OPTION_PATCHABLE:
		command->patchable = true;
		return 0;
	case OPTION_NO_FOLLOW:
		command->follow = false;
		return 0;
	case OPTION_STATS:
		return statistics_parse(text, &command->stats);
	default:
		return attach_find(text, &command->pid);
	}
}

static int check_whole(const struct throttle_command *command)
{
	if (command->pid && *command->program) {
		fputs("trapline: either -p PID or -- PROGRAM, not both\n", stderr);
		return 2;
	}
	if (command->pid && command->patchable) {
		fputs("trapline: --patchable needs a program that trapline starts: leave out -p\n",
		      stderr);
		return 2;
	}
	if (command->pid)
		return 0;
	if (command->duration) {
		fputs("trapline: --duration is for a program that runs already: use it with -p\n",
		      stderr);
		return 2;
	}
	if (!*command->program) {
		fputs("trapline: which program? usage: trapline throttle --cpu 25% -- PROGRAM, or "
		      "-p PID for one that runs already\n",
		      stderr);
		return 2;
	}
	if (!command->limits) {
		fputs("trapline: which limit? say --cpu, --faults or --limit\n", stderr);
		return 2;
	}
	for (unsigned i = 0; i < command->limits; i++)
		if (!command->limit[i].budget) {
			fputs("trapline: `off` ends a limit of a running program: use it with -p\n",
			      stderr);
			return 2;
		}
	return 0;
}

int throttle_options_parse(struct throttle_command *command, int argc, char **argv)
{
	struct group group = {0};
	int option, err = 0;

	*command = (struct throttle_command){.follow = true};
	optind = 0;
	while (!err && (option = getopt_long(argc, argv, "+:p:h", long_options, NULL)) != -1) {
		if (option == 'h') {
			print_help();
			return 1;
		}
		if (option == '?' || option == ':')
			return wrong_option(argv[0], argv, long_options, option);
		err = take(command, &group, option, optarg);
	}
	if (!err)
		err = end_group(command, &group);
	command->program = argv + optind;
	return err ? err : check_whole(command);
}
