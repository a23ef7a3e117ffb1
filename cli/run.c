/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline run --tool ./mine.so`: run a program under somebody's own detector. `trapline run --
 * PROGRAM`: run it so that `trapline patch` can replace functions of it; nothing watches it. */
#include "cli/command.h"
#include "cli/detect.h"
#include "cli/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTEN_VARIABLE "TRAPLINE_PATCH_LISTEN" /* src/patch/listen.c */

static int run_patchable(char **program)
{
	const char *library = program_library("libtrapline.so.0"), *user = getenv("LD_PRELOAD");
	char *why = program_cannot_be_watched(program[0]), *preload;

	if (why) {
		fprintf(stderr, "trapline: %s\n", why);
		free(why);
		return STATUS_CANNOT_RUN;
	}
	if (asprintf(&preload, user && *user ? "%s:%s" : "%s", library, user) < 0)
		return STATUS_CANNOT_RUN;
	setenv("LD_PRELOAD", preload, 1);
	setenv(LISTEN_VARIABLE, "1", 1);
	free(preload);
	return program_run_bare(program);
}

int command_run(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "--") == 0)
		return run_patchable(argv + 2);
	return detect_run(argc, argv, NULL);
}
