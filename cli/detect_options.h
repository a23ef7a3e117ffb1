/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DETECT_OPTIONS_H
#define CLI_DETECT_OPTIONS_H

#include "cli/statistics.h"
#include "program/options.h"

#include <sys/types.h>

#define DETECT_LIST_MAX 32

struct detect_options {
	struct control_options control;
	pid_t pid;			   /* of a program that runs already; 0: none */
	const char *tool[DETECT_LIST_MAX]; /* names and files */
	unsigned tools;
	const char *tool_option[DETECT_LIST_MAX + 1];
	unsigned tool_options;
	const char *suppressions[DETECT_LIST_MAX];
	unsigned suppressions_count;
	const char *generate; /* file for --gen-suppressions, "-" for stderr */
	const char *output;
	const char *aim;     /* file of findings to watch first; NULL: none */
	const char *command; /* "race", "heap" or "run" */
	bool show_all;
	bool show_known; /* findings that suppression/known.supp has */
	bool slots_chosen;
	enum statistics_choice stats;
	bool raw;
	bool foreground;    /* stay until the last process has ended */
	bool beside;	    /* the program is the process that was started */
	bool patchable;	    /* `trapline patch` can talk to it */
	bool quiet;	    /* no progress line, no summary */
	int error_exitcode; /* -1: none */
	const char *named;  /* the program as the command line has it; NULL: it does not */
	char **program;	    /* NULL: the one that made the area of --area */
};

/* 0; 1: help was asked for and shown; 2: wrong, and said why. `command` is "race" or "run". */
int detect_options_parse(struct detect_options *options, int argc, char **argv);
/* Whether the next word is this option's value. */
bool detect_option_takes_next(const char *word);

#endif
