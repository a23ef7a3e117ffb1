/* SPDX-License-Identifier: Apache-2.0 */
/* Text of unknown origin (thread names, paths, symbols) made fit for JSON and for terminals. */
#ifndef REPORT_UTF8_H
#define REPORT_UTF8_H

#include <stdbool.h>
#include <stdio.h>

bool utf8_valid(const char *text);

/* A copy in which each byte that is not part of valid UTF-8 is U+FFFD; NULL when memory is short.
 * The caller frees it. */
char *utf8_clean(const char *text);

/* Writes text with control characters and invalid bytes as \xNN, so that a hostile thread name
 * cannot drive the terminal. NULL is written as "?". */
void utf8_print(FILE *stream, const char *text);

#endif
