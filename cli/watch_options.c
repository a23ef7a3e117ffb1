/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `trapline watch`: expressions and options in any order, then -- PROGRAM. */
#include "cli/attach.h"
#include "cli/duration.h"
#include "cli/watch_options.h"

#include "cli/program.h"
#include "cli/wrong_option.h"

#include "lasting/lasting.h"
#include "lasting/regions.h"
#include "reader/open.h"
#include "record/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_code {
	OPTION_IF = 256,
	OPTION_THREAD,
	OPTION_NOT_FROM,
	OPTION_FIRST,
	OPTION_EVERY,
	OPTION_AFTER,
	OPTION_DURATION,
	OPTION_STACK,
	OPTION_COUNT,
	OPTION_STOP,
	OPTION_ABORT,
	OPTION_EXEC,
	OPTION_GDB,
	OPTION_BUDGET,
	OPTION_LATER,
	OPTION_FOLLOW,
	OPTION_NO_FOLLOW,
	OPTION_PATCHABLE,
	OPTION_FOREGROUND,
	OPTION_NO_KERNEL,
	OPTION_STATS,
	OPTION_TOP,
};

static const struct option long_options[] = {
	{"if", required_argument, NULL, OPTION_IF},
	{"thread", required_argument, NULL, OPTION_THREAD},
	{"not-from", required_argument, NULL, OPTION_NOT_FROM},
	{"first", required_argument, NULL, OPTION_FIRST},
	{"every", required_argument, NULL, OPTION_EVERY},
	{"after", required_argument, NULL, OPTION_AFTER},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{"stack", no_argument, NULL, OPTION_STACK},
	{"count", no_argument, NULL, OPTION_COUNT},
	{"stop", no_argument, NULL, OPTION_STOP},
	{"abort", no_argument, NULL, OPTION_ABORT},
	{"exec", required_argument, NULL, OPTION_EXEC},
	{"gdb", optional_argument, NULL, OPTION_GDB},
	{"budget", required_argument, NULL, OPTION_BUDGET},
	{"later", no_argument, NULL, OPTION_LATER},
	{"follow", no_argument, NULL, OPTION_FOLLOW},
	{"no-follow", no_argument, NULL, OPTION_NO_FOLLOW},
	{"patchable", no_argument, NULL, OPTION_PATCHABLE},
	{"foreground", no_argument, NULL, OPTION_FOREGROUND},
	{"no-kernel", no_argument, NULL, OPTION_NO_KERNEL},
	{"top", no_argument, NULL, OPTION_TOP},
	{"pid", required_argument, NULL, 'p'},
	{"output", required_argument, NULL, 'o'},
	{"stats", optional_argument, NULL, OPTION_STATS},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void print_help(void)
{
	fputs("usage: trapline watch EXPR… [OPTIONS] -- PROGRAM [ARGUMENTS…]\n"
	      "       trapline watch -p PID EXPR… [OPTIONS]\n\n"
	      "EXPR: counter, server.stat.count, conns[3]->state, lib.so:symbol, file.c:variable,\n"
	      "0xADDR:LEN, heap:SIZE@FUNCTION, function, file.c:123; then :LEN and :r, :w, :rw or :x\n\n"
	      "  --if CONDITION        only hits where it holds: 'new != old', 'new > 100 && old < 5'\n"
	      "  --thread GLOB         only threads of such names\n"
	      "  --not-from FUNCTION   no hits with this function on the stack\n"
	      "  --first N             show the first N hits; counting goes on\n"
	      "  --every N             show one hit in N; counting goes on\n"
	      "  --after SECONDS       nothing before that\n"
	      "  --stack               the whole stack with each hit\n"
	      "  --count               only the table at the end\n"
	      "  --stop                stop the process (SIGSTOP) at a hit\n"
	      "  --abort               end it with SIGABRT, a core showing the access\n"
	      "  --exec COMMAND        run a shell command; TRAPLINE_PID and TRAPLINE_TID are set\n"
	      "  --gdb[=FILE]          start gdb at the access, on the terminal or with the commands\n"
	      "                        in FILE\n"
	      "  --budget PERCENT      of the program's time that hits may take; what costs more is\n"
	      "                        sampled and its counts are estimates (default 100: all noted)\n"
	      "  --later               names that are unknown at the start may come with a module\n"
	      "                        or program that is loaded later\n"
	      "  --follow              follow pointers of an expression again when they change\n"
	      "  --no-follow           not the children of the program\n"
	      "  --foreground          end with the program's last process, not with its first\n"
	      "  --patchable           ready for `trapline patch`, by one thread more\n"
	      "  --no-kernel           not what system calls read and write\n"
	      "  --top                 a table in the terminal, refreshed; keys sort it, q leaves it\n"
	      "  -p, --pid PID         a program that runs already, neither stopped nor changed, but for\n"
	      "                        heap:…; until it ends or Ctrl-C\n"
	      "  --duration SECONDS    with -p: of watching\n"
	      "  -o, --output FILE     hits as JSON Lines\n"
	      "  --stats[=all]         what was counted, at the end; zeros, too\n",
	      stdout);
}

static int wrong(const char *option, const char *value, const char *expected)
{
	utf8_fprintf(stderr, "trapline: --%s '%s' is not %s\n", option, value, expected);
	return 2;
}

static int take_number(const char *option, const char *text, double low, double high,
		       double *number)
{
	char *end;

	errno = 0;
	*number = strtod(text, &end);
	if (errno || end == text || *end || !(*number >= low && *number <= high)) {
		char expected[64];

		snprintf(expected, sizeof(expected), "a number from %g to %g", low, high);
		return wrong(option, text, expected);
	}
	return 0;
}

static int take_count(const char *option, const char *text, uint64_t *count)
{
	double number = 0;
	int err = take_number(option, text, 1, 1e15, &number);

	*count = (uint64_t)number;
	if (!err && (double)*count != number)
		return wrong(option, text, "a whole number");
	return err;
}

static int take_action(struct watch_command *command, enum watch_action action)
{
	if (command->watch.action != WATCH_REPORT) {
		fputs("trapline: only one of --count, --stop, --abort, --exec and --gdb is possible\n",
		      stderr);
		return 2;
	}
	command->watch.action = action;
	return 0;
}

static int take_condition(struct watch_command *command, const char *text)
{
	const char *reason;

	if (!condition_parse(text, &command->watch.condition, &reason))
		return 0;
	utf8_fprintf(
		stderr,
		"trapline: --if '%s' cannot be evaluated: %s; give something like 'new > 100 && "
		"old != new'\n",
		text, reason);
	return 2;
}

/* gdb asks its user, so there must be one at a terminal, or a file of commands. */
static int take_gdb(struct watch_command *command, const char *file)
{
	int terminal;

	command->watch.command = file;
	if (file && access(file, R_OK) != 0) {
		utf8_fprintf(stderr, "trapline: --gdb: %s cannot be read: %s\n", file,
			     strerror(errno));
		return 2;
	}
	if (!file && !isatty(STDIN_FILENO)) {
		terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
		if (terminal < 0) {
			fputs("trapline: --gdb needs a terminal; give --gdb=FILE with the commands "
			      "that gdb is to run\n",
			      stderr);
			return 2;
		}
		close(terminal);
	}
	command->control.hold_most = WATCH_DEBUG_HOLD;
	return take_action(command, WATCH_DEBUG);
}

static int take_value(struct watch_command *command, int option, const char *text)
{
	double number = 0;
	int err;

	switch (option) {
	case OPTION_FIRST:
		return take_count("first", text, &command->watch.first);
	case OPTION_EVERY:
		return take_count("every", text, &command->watch.every);
	case OPTION_AFTER:
		err = take_number("after", text, 0, 1e9, &number);
		command->watch.after = (uint64_t)(number * 1e9);
		return err;
	case OPTION_DURATION:
		return duration_parse_seconds(text, &command->control.duration)
			       ? 0
			       : wrong("duration", text, "a number of seconds");
	case OPTION_BUDGET:
		err = take_number("budget", text, 0.01, 100, &number);
		command->control.budget = number;
		command->watch.sampled = number < 100;
		return err;
	case OPTION_IF:
		return take_condition(command, text);
	case 'p':
		err = attach_find(text, &command->pid);
		command->watch.outside = true;
		return err;
	case OPTION_EXEC:
		command->watch.command = text;
		return take_action(command, WATCH_EXECUTE);
	case OPTION_GDB:
		return take_gdb(command, text);
	case OPTION_THREAD:
		command->watch.thread = text;
		return strlen(text) < FILTER_GLOB
			       ? 0
			       : wrong("thread", text, "a glob of less than 64 bytes");
	case OPTION_NOT_FROM:
		command->watch.not_from = text;
		return 0;
	default:
		command->output = text;
		return wrong_output("watch", text);
	}
}

static int take(struct watch_command *command, int option, const char *text)
{
	switch (option) {
	case OPTION_STACK:
		command->watch.stack = true;
		return 0;
	case OPTION_COUNT:
		return take_action(command, WATCH_COUNT);
	case OPTION_STOP:
		return take_action(command, WATCH_STOP);
	case OPTION_ABORT:
		return take_action(command, WATCH_ABORT);
	case OPTION_LATER:
		command->watch.later = true;
		return 0;
	case OPTION_FOLLOW:
		command->watch.repoint = true;
		return 0;
	case OPTION_FOREGROUND:
		command->foreground = true;
		return 0;
	case OPTION_PATCHABLE:
		command->patchable = true;
		return 0;
	case OPTION_NO_FOLLOW:
		command->control.follow = command->watch.children = false;
		return 0;
	case OPTION_NO_KERNEL:
		command->control.kernel = false;
		return 0;
	case OPTION_STATS:
		return statistics_parse(text, &command->stats);
	case OPTION_TOP:
		command->top = true;
		return 0;
	default:
		return take_value(command, option, text);
	}
}

static int parse(struct watch_command *command, int argc, char **argv)
{
	int option, err;

	optind = 0;
	while ((option = getopt_long(argc, argv, ":o:p:h", long_options, NULL)) != -1) {
		if (option == 'h') {
			print_help();
			return 1;
		}
		if (option == '?' || option == ':')
			return wrong_option(argv[0], argv, long_options, option);
		err = take(command, option, optarg);
		if (err)
			return err;
	}
	return 0;
}

/* From outside, a thread is past its access when we hear of the hit, so actions at the access are
 * refused. */
static int check_pid(const struct watch_command *command)
{
	if (!command->pid && command->control.duration) {
		fputs("trapline: --duration needs -p: a program that trapline starts is watched "
		      "until it ends\n",
		      stderr);
		return 2;
	}
	if (!command->pid)
		return 0;
	if (command->program) {
		fputs("trapline: -p watches a program that runs already: leave out `-- PROGRAM`, or "
		      "-p\n",
		      stderr);
		return 2;
	}
	if (command->patchable) {
		fputs("trapline: with -p the program is left as it is: --patchable needs one that "
		      "trapline starts\n",
		      stderr);
		return 2;
	}
	if (command->watch.action > WATCH_COUNT && command->watch.action != WATCH_EXECUTE) {
		fputs("trapline: with -p no thread can be caught at its access: --stop, --abort and "
		      "--gdb need a program that trapline starts\n",
		      stderr);
		return 2;
	}
	return 0;
}

static int check(struct watch_command *command, int count, char **expressions)
{
	if (!count) {
		fputs("trapline: watch what? usage: trapline watch EXPR… [OPTIONS] -- PROGRAM\n",
		      stderr);
		return 2;
	}
	if (count > WATCH_EXPRESSIONS) {
		utf8_fprintf(stderr, "trapline: at most %d expressions are possible\n",
			     WATCH_EXPRESSIONS);
		return 2;
	}
	if (check_pid(command))
		return 2;
	if (!command->pid && (!command->program || !*command->program)) {
		fputs("trapline: which program? usage: trapline watch EXPR… [OPTIONS] -- PROGRAM, "
		      "or trapline watch -p PID EXPR…\n",
		      stderr);
		return 2;
	}
	command->watch.regions = lasting_has_regions() && !command->pid &&
				 command->watch.action != WATCH_DEBUG;
	command->watch.expression = (const char *const *)expressions;
	command->watch.expressions = (unsigned)count;
	command->watch.stack_needed = command->watch.stack || command->watch.not_from ||
				      command->output;
	return 0;
}

int watch_options_parse(struct watch_command *command, int argc, char **argv)
{
	int own = 1, err;

	memset(command, 0, sizeof(*command));
	control_options_init(&command->control);
	command->control.reader = SYMBOL_READER_SELF;
	command->control.strategy = &lasting_strategy;
	command->control.budget = 100;
	command->watch.children = true;
	command->watch.lines = program_messages();
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	if (own < argc) {
		argv[own] = NULL;
		command->program = argv + own + 1;
	}
	err = parse(command, own, argv);
	return err ? err : check(command, own - optind, argv + optind);
}
