/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of memory that nobody wrote: a tool on <trapline/tool.h>. */
#ifndef UNINIT_UNINIT_H
#define UNINIT_UNINIT_H

#include <trapline/tool.h>

extern const struct tl_tool uninit_tool;

#endif
