/* SPDX-License-Identifier: Apache-2.0 */
/* The detectors that come with `trapline`, by name. */
#ifndef CLI_TOOLS_H
#define CLI_TOOLS_H

#include "tool/set.h"

#include <trapline/tool.h>

struct tools_chosen {
	const struct tl_tool *tool[TOOL_SET_MAX];
	unsigned count;
	bool loaded; /* some of them from shared objects */
};

/* `names`, with commas between them: ours by their names, or others by the paths of their shared
 * objects, which have a '/' or end in ".so". One that is named again counts once. STATUS_OK; or
 * with one sentence on stderr STATUS_USAGE, there is none of a name or they are too many, or
 * STATUS_FAILED, one cannot be loaded. */
int tools_add(struct tools_chosen *chosen, const char *names);

/* Does it want the program to guard blocks of its heap? */
bool tools_wants_guards(const struct tl_tool *tool);
/* … and can it do nothing without? */
bool tools_needs_guards(const struct tl_tool *tool);

/* The heap of a program that no library can be loaded into is seen by none of those: each is told
 * of. True where that leaves nothing to do. */
bool tools_are_blind(const struct tl_tool *const tool[], unsigned count, const char *program);

/* What stands on a program's allocations needs them interposed from its start: said, if so. */
bool tools_cannot_attach(const struct tl_tool *const tool[], unsigned count);

#endif
