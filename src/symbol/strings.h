/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of strings, each kept once, all freed together. */
#ifndef SYMBOL_STRINGS_H
#define SYMBOL_STRINGS_H

#include <stddef.h>

struct symbol_strings {
	char **slot; /* open addressing, a power of two of slots */
	size_t slots, used;
};

/* The pool's copy of `text`; NULL for NULL, and when out of memory. */
const char *symbol_strings_keep(struct symbol_strings *strings, const char *text);
void symbol_strings_free(struct symbol_strings *strings);

#endif
