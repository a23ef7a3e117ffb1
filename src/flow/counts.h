/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools of this room count, for --stats. */
#ifndef FLOW_COUNTS_H
#define FLOW_COUNTS_H

#include <trapline/tool.h>

/* The names under which something is counted in this folder, each with what it says. */
extern const struct tl_count flow_counts[];

#endif
