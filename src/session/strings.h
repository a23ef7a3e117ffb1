/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of strings, each kept once, all freed together. */
#ifndef SESSION_STRINGS_H
#define SESSION_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct symbol_strings {
	char **slot; /* open addressing, a power of two of slots */
	size_t slots, used;
	size_t bytes; /* memory taken, about */
	uint64_t left_out;
};

/* Bytes that the strings take at most: a program decides how many files it maps and what names
 * they hold. */
#define SYMBOL_STRINGS_BYTES (64u << 20)

/* The pool's copy of `text`; NULL for NULL, and when memory is short. Beyond
 * SYMBOL_STRINGS_BYTES one text stands for all that are left out, which are counted. */
const char *symbol_strings_keep(struct symbol_strings *strings, const char *text);
void symbol_strings_free(struct symbol_strings *strings);

#endif
