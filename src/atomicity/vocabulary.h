/* SPDX-License-Identifier: Apache-2.0 */
/* Every name that debug information knows in one unit, and what it stands for. */
#ifndef ATOMICITY_VOCABULARY_H
#define ATOMICITY_VOCABULARY_H

#include <stddef.h>
#include <stdint.h>

struct symbol_unit;

enum {
	SYMBOL_WORD_VALUE = 1, /* a variable, parameter or member */
	SYMBOL_WORD_FUNCTION = 2,
	SYMBOL_WORD_OTHER = 4,	/* a type, an enumerator, a namespace, a label */
	SYMBOL_WORD_ATOMIC = 8, /* a value of that name is, or points to, an atomic type */
	SYMBOL_WORD_VOLATILE = 16,
};

/* Flags of `name`; 0: unknown. Reads the whole unit at first use. */
unsigned symbol_vocabulary_flags(struct symbol_unit *unit, const char *name, size_t length);

struct symbol_vocabulary;

#endif
