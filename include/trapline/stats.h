/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics: every path of the library that drops, skips or gives up adds to a named count.
 */
#ifndef TRAPLINE_STATS_H
#define TRAPLINE_STATS_H

#include <trapline/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of named counts; indices 0 to tl_stats_count() - 1. */
TL_API size_t tl_stats_count(void);
/* Name of a count, static text; NULL past the end. */
TL_API const char *tl_stats_name(size_t index);
/* Its value in this process; 0 past the end. Async-signal-safe. */
TL_API uint64_t tl_stats_value(size_t index);

#ifdef __cplusplus
}
#endif
#endif
