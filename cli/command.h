/* SPDX-License-Identifier: Apache-2.0 */
/* What main.c asks of a command, and what it offers to all of them. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <string.h>

/*
 * Exit statuses of trapline itself. A command that runs a program ends as the program ended; these
 * are for the rest. 126 and 127 mean what they mean to env(1) and the shell.
 */
enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,	 /* the command could not do its work, and has said why */
	STATUS_USAGE = 2,	 /* the command line is wrong */
	STATUS_CANNOT_RUN = 126, /* the program was found and could not be started */
	STATUS_NOT_FOUND = 127,	 /* there is no such program */
};

/* For commands that do not use getopt_long(3): does the word ask for help? */
static inline bool asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* argv[0] is the command's name, argv[argc] is NULL. Returns the exit status. */
typedef int command_fn(int argc, char **argv);

#define COMMAND(name, summary) command_fn command_##name;
#include "cli/commands.def"
#undef COMMAND

#endif
