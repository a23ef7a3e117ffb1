/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline list`: what is watched on this machine, and by which process. */
#include "cli/command.h"
#include "cli/controllers.h"
#include "process/say.h"
#include "record/utf8.h"

#include <stdio.h>
#include <string.h>

static void print_controller(void *context, const struct controller *controller)
{
	unsigned *count = context;
	char since[32], name[PROCESS_NAME];

	(*count)++;
	strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%S", localtime(&controller->since));
	printf("%d  since %s  ", (int)controller->pid, since);
	utf8_print(stdout, controller->command);
	fputs("\n    watches", stdout);
	for (unsigned i = 0; i < controller->count; i++) {
		fputs(i ? ", " : " ", stdout);
		process_name(controller->watched[i], name);
		utf8_print(stdout, name);
		printf(" (%d)", (int)controller->watched[i]);
	}
	puts(controller->count ? "" : " nothing at the moment");
}

int command_list(int argc, char **argv)
{
	unsigned count = 0;

	if (argc > 1 && asks_for_help(argv[1])) {
		puts("usage: trapline list\n\n"
		     "What is watched on this machine, as far as this user may see it: the process that\n"
		     "watches, since when, its command line, and the processes that it watches.");
		return STATUS_OK;
	}
	if (argc > 1) {
		utf8_fprintf(stderr, "trapline: list takes no '%s'; it has no options\n", argv[1]);
		return STATUS_USAGE;
	}
	controllers_each(print_controller, &count);
	if (!count)
		fputs("trapline: nothing is watched by processes that this user may see\n", stderr);
	return STATUS_OK;
}
