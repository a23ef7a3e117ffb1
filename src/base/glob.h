/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/*
 * `*` stands for any text, `?` for one byte, `\` takes the next character as it is; everything else
 * for itself (no brackets: operator[] is a function's name). At most pattern times text steps.
 */
bool glob_match(const char *pattern, const char *text);

/* A path is matched whole, and when the pattern has no slash by its last component too. */
bool glob_match_path(const char *pattern, const char *path);

#endif
