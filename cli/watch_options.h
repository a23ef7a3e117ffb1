/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_WATCH_OPTIONS_H
#define CLI_WATCH_OPTIONS_H

#include "cli/statistics.h"
#include "program/options.h"
#include "watch/watch.h"

struct watch_command {
	struct watch_options watch;
	struct control_options control;
	const char *output;
	bool top, patchable;
	bool foreground; /* stay until the last process has ended */
	enum statistics_choice stats;
	pid_t pid; /* of a running program to watch; 0: start `program` */
	char **program;
};

/* 0; 1: help was asked for and shown; 2: wrong, and said why. */
int watch_options_parse(struct watch_command *command, int argc, char **argv);

#endif
