/* SPDX-License-Identifier: Apache-2.0 */
/* The data-race detector, a tool on <trapline/tool.h>: race.c chooses what to watch and reports
 * pairs, rules.h judges them, library.h knows the C library's functions. The controller's thread
 * runs all of it. */
#ifndef RACE_RACE_H
#define RACE_RACE_H

#include <trapline/tool.h>

extern const struct tl_tool race_tool;

#endif
