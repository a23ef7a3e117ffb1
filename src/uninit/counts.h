/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNINIT_COUNTS_H
#define UNINIT_COUNTS_H

#include <trapline/tool.h>

/* The names under which something is counted in this folder, each with what it says. */
extern const struct tl_count uninit_counts[];

#endif
