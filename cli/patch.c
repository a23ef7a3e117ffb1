/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline patch`: replace functions of a running program. */
#include "cli/patch.h"

#include "cli/attach.h"
#include "cli/command.h"
#include "cli/duration.h"
#include "cli/wrong_option.h"
#include "record/utf8.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_code {
	OPTION_BREAKPOINT = 256,
	OPTION_ANYWAY,
	OPTION_LIST,
	OPTION_REVERT,
	OPTION_DURATION,
	OPTION_STATS,
};

static const struct option long_options[] = {
	{"pid", required_argument, NULL, 'p'},
	{"breakpoint", no_argument, NULL, OPTION_BREAKPOINT},
	{"anyway", no_argument, NULL, OPTION_ANYWAY},
	{"list", no_argument, NULL, OPTION_LIST},
	{"revert", required_argument, NULL, OPTION_REVERT},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{"stats", optional_argument, NULL, OPTION_STATS},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct options {
	pid_t pid;
	bool help;
	struct patch_manner manner;
	struct patch_request request;
};

static void print_help(void)
{
	fputs("usage: trapline patch -p PID [OPTIONS] FIX.so OLD=NEW…\n"
	      "       trapline patch -p PID --list\n"
	      "       trapline patch -p PID --revert NUMBER\n\n"
	      "Each call of OLD in the running program leads to NEW of FIX.so, from one instant for\n"
	      "all pairs; no thread is stopped if the program was started by `trapline run`, or by another\n"
	      "command with --patchable, or calls tl_patch_listen(). Any other program is entered, and is\n"
	      "patched until this command ends (Ctrl-C), four functions at most. OLD: a function,\n"
	      "lib.so:function or 0xADDRESS; OLD alone is OLD=OLD.\n\n"
	      "  -p, --pid PID         the program, by number or name\n"
	      "  --breakpoint          change no byte: an execution breakpoint for each function\n"
	      "  --anyway              although copies of OLD stay that were inlined, or threads that the\n"
	      "                        program makes later call OLD for a moment\n"
	      "  --duration SECONDS    a program that is entered: end the patch after that\n"
	      "  --stats[=all]         a program that is entered: what was counted, at the end\n"
	      "  --list                the patches in force, with their numbers\n"
	      "  --revert NUMBER       take that one back\n",
	      stdout);
}

static int take_number(const char *option, const char *text, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(text, &end, 10);
	if (!errno && end != text && !*end && *number > 0 && *number <= INT_MAX)
		return 0;
	utf8_fprintf(stderr, "trapline: --%s '%s' is not a number above 0\n", option, text);
	return STATUS_USAGE;
}

static int take_option(struct options *options, int option)
{
	long number = 0;
	int status = 0;

	switch (option) {
	case 'p':
		status = attach_find(optarg, &options->pid);
		return status ? attach_status(status) : STATUS_OK;
	case OPTION_BREAKPOINT:
		options->request.flags |= PATCH_REQUEST_BREAKPOINT;
		return 0;
	case OPTION_ANYWAY:
		options->manner.anyway = true;
		return 0;
	case OPTION_LIST:
		options->request.operation = PATCH_LIST;
		return 0;
	case OPTION_REVERT:
		options->request.operation = PATCH_REVERT;
		status = take_number("revert", optarg, &number);
		options->request.id = (uint32_t)number;
		return status;
	case OPTION_DURATION:
		if (duration_parse_seconds(optarg, &options->manner.duration))
			return 0;
		utf8_fprintf(stderr, "trapline: --duration '%s' is not a number of seconds\n",
			     optarg);
		return STATUS_USAGE;
	case OPTION_STATS:
		return statistics_parse(optarg, &options->manner.stats);
	case 'h':
		options->help = true;
		return 0;
	default:
		return STATUS_USAGE;
	}
}

static int usage(const char *what)
{
	utf8_fprintf(stderr, "trapline: %s; `trapline patch --help` shows the usage\n", what);
	return STATUS_USAGE;
}

static int check_usage(const struct options *options, int operands)
{
	if (!options->pid)
		return usage("-p PID is missing");
	if (options->request.operation == PATCH_APPLY && operands < 2)
		return usage("FIX.so or OLD=NEW is missing");
	if (options->request.operation != PATCH_APPLY && operands)
		return usage("--list and --revert take no FIX.so");
	return 0;
}

static int apply_or_send(const struct options *options)
{
	if (options->request.operation == PATCH_APPLY && !patch_listens(options->pid))
		return patch_enter(options->pid, &options->request, &options->manner);
	if (options->manner.duration) {
		utf8_fprintf(stderr,
			     "trapline: process %d listens for patches, which stay until --revert: "
			     "leave out --duration\n",
			     (int)options->pid);
		return STATUS_FAILED;
	}
	return patch_send(options->pid, &options->request);
}

int command_patch(int argc, char **argv)
{
	static struct options options;
	int option, status = 0;

	options.request = (struct patch_request){.magic = PATCH_REQUEST_MAGIC,
						 .version = PATCH_REQUEST_VERSION,
						 .operation = PATCH_APPLY};
	while (!status && (option = getopt_long(argc, argv, ":p:h", long_options, NULL)) != -1)
		status = option == '?' || option == ':'
				 ? wrong_option(argv[0], argv, long_options, option)
				 : take_option(&options, option);
	if (options.help && !status) {
		print_help();
		return STATUS_OK;
	}
	if (!status)
		status = check_usage(&options, argc - optind);
	if (!status)
		status = attach_check(options.pid);
	if (!status && options.request.operation == PATCH_APPLY)
		status = patch_resolve(options.pid, argv[optind], argv + optind + 1,
				       argc - optind - 1, options.manner.anyway, &options.request);
	if (status)
		return status;
	return apply_or_send(&options);
}
