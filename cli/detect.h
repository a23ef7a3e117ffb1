/* SPDX-License-Identifier: Apache-2.0 */
/* What `trapline race` and `trapline run` have in common: options, the run, the findings. */
#ifndef CLI_DETECT_H
#define CLI_DETECT_H

#include <stdio.h>
#include <trapline/tool.h>

struct finding;

/* How a command shows what its tool found, where it does not print single findings as they come. */
struct detect_view {
	const char *const *tool_options; /* "NAME=VALUE", NULL-terminated; or NULL */
	/* Shows all findings at the end: to the terminal, or as the text of --output. NULL:
	 * --output has JSON Lines. */
	void (*show)(void *context, FILE *stream, struct finding *const *findings, size_t count);
	void (*write)(void *context, FILE *stream, struct finding *const *findings, size_t count);
	void *context;
};

/* `tool`: the command's own; NULL: those that --tool names. `view` may be NULL. Returns the exit
 * status. */
int detect_run(int argc, char **argv, const struct tl_tool *tool, const struct detect_view *view);

#endif
