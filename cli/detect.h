/* SPDX-License-Identifier: Apache-2.0 */
/* What `trapline race` and `trapline run` have in common: options, the run, the findings. */
#ifndef CLI_DETECT_H
#define CLI_DETECT_H

#include <stdio.h>
#include <trapline/tool.h>

struct finding;

/* How a command shows what its tool found, where single findings as they come are not it. */
struct detect_view {
	const char *const *tool_options; /* "NAME=VALUE", NULL-terminated; or NULL */
	/* All at the end, to the terminal; to --output, NULL: as JSON Lines. */
	void (*show)(void *context, FILE *stream, struct finding *const *findings, size_t count);
	void (*write)(void *context, FILE *stream, struct finding *const *findings, size_t count);
	void *context;
};

/* `tool` NULL: those that --tool names. `view` may be NULL. Returns the exit status. */
int detect_run(int argc, char **argv, const struct tl_tool *tool, const struct detect_view *view);

#endif
