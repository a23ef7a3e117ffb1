/* SPDX-License-Identifier: Apache-2.0 */
/* The detector of heap errors: a tool on <trapline/tool.h>. */
#ifndef HEAP_HEAP_H
#define HEAP_HEAP_H

#include <trapline/tool.h>

extern const struct tl_tool heap_tool;

#endif
