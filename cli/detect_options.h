/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DETECT_OPTIONS_H
#define CLI_DETECT_OPTIONS_H

#include "cli/statistics.h"
#include "program/options.h"

#include <sys/types.h>

#define DETECT_LIST_MAX 32

struct detect_options {
	struct control_options control;
	pid_t pid;			   /* of a program that runs already; 0: one is started */
	const char *tool[DETECT_LIST_MAX]; /* names of tools, and files of others */
	unsigned tools;
	const char *tool_option[DETECT_LIST_MAX + 1];
	unsigned tool_options;
	const char *suppressions[DETECT_LIST_MAX];
	unsigned suppressions_count;
	const char *generate; /* file for --gen-suppressions, "-" for stderr */
	const char *output;
	const char *aim;     /* --aim: file of findings to watch first; NULL: none */
	const char *command; /* "race", "heap" or "run" */
	bool show_all;
	bool show_known; /* show also findings that suppression/known.supp knows */
	bool slots_chosen;
	enum statistics_choice stats;
	bool raw;
	bool foreground;    /* stay until the last process has ended */
	bool beside;	    /* the program becomes the process that was started (cli/beside.h) */
	bool patchable;	    /* `trapline patch` can talk to the program */
	bool quiet;	    /* no progress line, no summary */
	int error_exitcode; /* exit status if something is found; -1: the program's own */
	const char *named;  /* the program as the command line names it; NULL: it names none */
	char **program;	    /* NULL: the program that made the area of --area */
};

/* 0; 1: help was asked for and shown; 2: the line is wrong, and it was said why. `command`: "race",
 * "heap" or "run". */
int detect_options_parse(struct detect_options *options, int argc, char **argv);
/* Is the next word this option's value? */
bool detect_option_takes_next(const char *word);

#endif
