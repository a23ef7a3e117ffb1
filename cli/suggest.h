/* SPDX-License-Identifier: Apache-2.0 */
/* Which known name was probably meant by a mistyped one. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

#define SUGGEST_MAX_LENGTH 32

/* Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`;
 * SUGGEST_MAX_LENGTH when either is that long. */
unsigned suggest_distance(const char *a, const char *b);

/* Index of the nearest of `count` names, or -1 when none is near enough to be worth saying. */
int suggest_nearest(const char *typed, const char *const *names, size_t count);

#endif
