/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline flow`: where values come from and go to, who talks to whom, what is wasted. Tools on
 * <trapline/tool.h>. */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include <trapline/tool.h>

extern const struct tl_tool flow_from_tool;	 /* where the values of an expression come from */
extern const struct tl_tool flow_from_heap_tool; /* of heap:SIZE@function */
extern const struct tl_tool flow_to_tool;	 /* where they go */
extern const struct tl_tool flow_to_heap_tool;
extern const struct tl_tool flow_map_tool;    /* which code reads what which code wrote */
extern const struct tl_tool flow_share_tool;  /* which threads share which cache lines */
extern const struct tl_tool flow_unread_tool; /* which memory is freed unread */
extern const struct tl_tool flow_waste_tool;  /* dead and silent stores, redundant loads */

#endif
