/* SPDX-License-Identifier: Apache-2.0 */
/* The detectors that come with `trapline`, by name. */
#ifndef CLI_TOOLS_H
#define CLI_TOOLS_H

#include <trapline/tool.h>

/* One of ours by its name, or of others by the path of its shared object, which has a '/' or ends
 * in ".so". NULL with one sentence on stderr. */
const struct tl_tool *tools_find(const char *name);

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
