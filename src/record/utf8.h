/* SPDX-License-Identifier: Apache-2.0 */
/* Text of unknown origin (thread names, paths, symbols) made fit for JSON and for terminals. */
#ifndef RECORD_UTF8_H
#define RECORD_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

bool utf8_valid(const char *text);

/* A copy in which each byte that is not part of valid UTF-8 is U+FFFD; NULL when memory is short.
 * The caller frees it. */
char *utf8_clean(const char *text);

/*
 * The only way in which text that a program, a file or another process chose reaches a terminal:
 * what could drive it or mislead its reader comes as \xNN, byte by byte. That is C0 (newlines and
 * tabs too), DEL, U+0080 to U+009F, line separators, what changes the direction of writing, and
 * whatever is not UTF-8. NULL is written as "?".
 */
void utf8_print(FILE *stream, const char *text);
/* As fprintf(), printed by utf8_print(): a sentence with names and values in it. A newline at its
 * very end stays one. Where memory is short it is cut at UTF8_SENTENCE_MAX bytes. */
#define UTF8_SENTENCE_MAX 400
__attribute__((format(printf, 2, 3))) void utf8_fprintf(FILE *stream, const char *format, ...);
/* The same into memory, cut where it does not fit, never within a character or a \xNN. Returns
 * `to`. */
char *utf8_escape(char *to, size_t size, const char *text);
/* Length of the character at `text` if it may be shown as it is, else 0. */
size_t utf8_showable(const char *text);

#endif
