/* SPDX-License-Identifier: Apache-2.0 */
/* The detectors that come with `trapline`, by name. */
#ifndef CLI_TOOLS_H
#define CLI_TOOLS_H

#include "tool/set.h"

#include <trapline/tool.h>

struct tools_chosen {
	const struct tl_tool *tool[TOOL_SET_MAX];
	unsigned count;
	bool loaded; /* some of them come from shared objects */
};

/* Adds the tools in `names`, which has commas between them: ours by their names, others by the
 * paths of their shared objects, which have a '/' or end in ".so". A tool that is named again
 * counts once. STATUS_OK; or, with one sentence on stderr, STATUS_USAGE: there is none of a name,
 * or they are too many; STATUS_FAILED: one cannot be loaded. */
int tools_add(struct tools_chosen *chosen, const char *names);

/* Does the tool want the program to guard blocks of its heap? */
bool tools_wants_guards(const struct tl_tool *tool);
/* Can the tool do nothing without these guards? */
bool tools_needs_guards(const struct tl_tool *tool);

/* If no library can be loaded into the program, says of each tool that needs guards that it sees
 * none of its blocks. True: no other tool is left, so there is nothing to do. */
bool tools_are_blind(const struct tl_tool *const tool[], unsigned count, const char *program);

/* A tool that needs a program's allocations interposed from its start cannot attach to one that
 * runs: says so. True: there is such a tool. */
bool tools_cannot_attach(const struct tl_tool *const tool[], unsigned count);

#endif
