/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of `trapline flow map`, `share`, `unread` and `waste`, on <trapline/tool.h>: which
 * code and which threads exchange what through memory, and what is wasted, estimated from
 * samples. The controller's thread runs all of it. */
#ifndef TRAFFIC_TRAFFIC_H
#define TRAFFIC_TRAFFIC_H

#include <trapline/tool.h>

extern const struct tl_tool flow_map_tool;    /* which code reads what which code wrote */
extern const struct tl_tool flow_share_tool;  /* which threads share which cache lines */
extern const struct tl_tool flow_unread_tool; /* which memory is freed unread */
extern const struct tl_tool flow_waste_tool;  /* dead and silent stores, redundant loads */

#endif
