/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline run --tool ./mine.so`: run a program under somebody's own detector. `trapline run --
 * PROGRAM`: run it so that `trapline patch` can replace functions of it; nothing watches it. */
#include "cli/command.h"
#include "cli/detect.h"
#include "cli/program.h"
#include "record/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_patchable(char **program)
{
	char *why = program_cannot_be_watched(program[0]);

	if (why) {
		utf8_fprintf(stderr, "trapline: %s\n", why);
		free(why);
		return STATUS_CANNOT_RUN;
	}
	if (program_entry(program[0])) {
		utf8_fprintf(
			stderr,
			"trapline: %s takes no library (it is statically linked, for another C library "
			"than glibc, or has a sanitizer's runtime), and patches need one\n",
			program[0]);
		return STATUS_CANNOT_RUN;
	}
	return program_ask_to_listen() ? program_run_bare(program) : STATUS_CANNOT_RUN;
}

int command_run(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "--") == 0)
		return run_patchable(argv + 2);
	return detect_run(argc, argv, NULL, NULL);
}
