/* SPDX-License-Identifier: Apache-2.0 */
/* Of `trapline flow`: where values come from and go to. Tools on <trapline/tool.h>. */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include <trapline/tool.h>

extern const struct tl_tool flow_from_tool;	 /* where the values of an expression come from */
extern const struct tl_tool flow_from_heap_tool; /* of heap:SIZE@function */
extern const struct tl_tool flow_to_tool;	 /* where they go */
extern const struct tl_tool flow_to_heap_tool;

#endif
