/* SPDX-License-Identifier: Apache-2.0 */
/* The data-race detector: a tool on <trapline/tool.h>. */
#ifndef RACE_RACE_H
#define RACE_RACE_H

#include <trapline/tool.h>

extern const struct tl_tool race_tool;

#endif
