/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAFFIC_COUNTS_H
#define TRAFFIC_COUNTS_H

#include <trapline/tool.h>

/* The names under which something is counted in this folder, each with what it says. */
extern const struct tl_count flow_traffic_counts[];

#endif
