/* SPDX-License-Identifier: Apache-2.0 */
/* What `trapline race` and `trapline run` have in common: options, the run, the findings. */
#ifndef CLI_DETECT_H
#define CLI_DETECT_H

#include <trapline/tool.h>

/* `tool` NULL: the one that --tool names. Returns the exit status. */
int detect_run(int argc, char **argv, const struct tl_tool *tool);

#endif
