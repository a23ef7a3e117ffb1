/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that a unit's sources define, by name, roughly: a name, what is in parentheses, and
 * a block. Conditions (#if) are not evaluated: every definition of a name counts.
 */
#ifndef ATOMICITY_BODY_H
#define ATOMICITY_BODY_H

#include "atomicity/macro.h"

struct symbol_bodies;

struct symbol_body {
	const struct symbol_source *source;
	size_t first, last; /* tokens within its braces */
};

/* Of the definitions of `name` that of index `which`, from 0 on; false: there are no more. All of
 * the unit's sources are searched at first use. */
bool symbol_body_find(struct symbol_macros *macros, const char *name, size_t length, size_t which,
		      struct symbol_body *body);

/* The body of the function that holds a line: tokens [*first, *last). */
void symbol_body_around(const struct symbol_tokens *tokens, unsigned line, size_t *first,
			size_t *last);

#endif
