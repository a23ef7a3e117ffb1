/* SPDX-License-Identifier: Apache-2.0 */
/* Use after return and overwritten frames: a tool on <trapline/tool.h>. */
#ifndef STACK_STACK_H
#define STACK_STACK_H

#include <trapline/tool.h>

extern const struct tl_tool stack_tool;

#endif
