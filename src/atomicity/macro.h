/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The macros that a unit's sources define, found by reading its main file and what that includes.
 * Conditions (#if) are not evaluated: every definition of a name counts.
 */
#ifndef ATOMICITY_MACRO_H
#define ATOMICITY_MACRO_H

#include "dwarf/unit.h"
#include "source/source.h"
#include "source/token.h"

struct symbol_bodies;
struct symbol_declared;

struct symbol_macros {
	struct symbol_source **source;
	size_t count;
	bool incomplete;	   /* a file that the program's own sources include was not found */
	bool searched, directives; /* does any macro hold a directive that makes atomic? */
	struct symbol_bodies *bodies; /* of functions, once they were asked for (body.h) */
	void (*bodies_free)(struct symbol_bodies *bodies);
	struct symbol_declared *declared; /* names of atomics, likewise (declared.h) */
	void (*declared_free)(struct symbol_declared *declared);
};

struct symbol_macro {
	const struct symbol_source *source;
	const struct symbol_directive *directive; /* its first token is the macro's name */
	size_t next_source, next_directive;	  /* where to go on looking */
};

/* NULL only when out of memory. Read at first use. */
struct symbol_macros *symbol_unit_macros(struct symbol_session *session, struct symbol_unit *unit,
					 Dwarf_Die *die);
/* The first definition of `name` (from a zeroed *macro), then each further one; false: no more. */
bool symbol_macros_next(const struct symbol_macros *macros, const char *name, size_t length,
			struct symbol_macro *macro);
/* Tokens of a source, made at first use; NULL if it could not be read. */
const struct symbol_tokens *symbol_source_tokens(struct symbol_source *source);
/* Looks for the compilers' own directories, once and for all; else done at first use. */
void symbol_macros_prepare(void);

/* Is a directive that makes accesses atomic in any macro of the unit? */
bool symbol_macros_hold_directives(struct symbol_macros *macros);

#endif
