/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads that a line may be shown for though another statement makes them. The load in front of the
 * LOCK CMPXCHG loop that GCC makes of `#pragma omp atomic` has no line of its own and goes by that
 * of the code before it; Clang folds the load of `atomic read` into the instruction that uses its
 * value, which has the line of the use. So where the code of a function has such a statement over
 * what may be the object, a line is believed to be a load's own only when its statement names the
 * object. The same is true of the update of the shared variable that ends a reduction, but that the
 * statements within its construct may name what is reduced: there it is the thread's own copy.
 */
#ifndef ATOMICITY_LENT_H
#define ATOMICITY_LENT_H

#include "atomicity/macro.h"
#include "dwarf/unit.h"
#include "source/source.h"
#include "source/statement.h"
#include "source/token.h"
#include "symbol/variable.h"

#include <stdbool.h>
#include <stddef.h>

/* What text calls it by: of a part the innermost member, "state" of "server.conns[3].state", or
 * "ports" of "config.ports[1]". NULL: it has no name. */
const char *symbol_variable_member(const struct symbol_variable *variable, size_t *length);

struct symbol_lent {
	Dwarf_Die *unit;     /* that has the line table */
	Dwarf_Die *function; /* whose code the load is in, with all that is inlined into it */
	const struct symbol_variable *variable; /* what it accessed, as far as known, or NULL */
	/* Is a directive in these tokens, or in a macro of which they hold the name? */
	bool (*is_directive)(void *arg, const struct symbol_source *source,
			     const struct symbol_token *token, size_t count);
	/* Is an atomic operation of the language in these tokens of one statement? */
	bool (*is_operation)(void *arg, const struct symbol_source *source,
			     const struct symbol_token *token, size_t count);
	struct symbol_macros *macros; /* of the unit */
	/* The file with its tokens; NULL: it cannot be read. */
	struct symbol_source *(*read)(void *arg, const char *path);
	void *arg;
	/* Statements that may still be looked at: a question of seconds holds up all others. */
	unsigned *left;
};

/* `statement` of `source`: what the line table shows. */
bool symbol_lent(const struct symbol_lent *lent, const struct symbol_source *source,
		 const struct symbol_statement *statement);

/*
 * May a load that is an operand of an instruction at `line` be that of an atomic operation whose
 * value the statement uses? It comes there by a variable of the function that the operation was
 * assigned to, or by a call of a function that has the operation in it.
 */
bool symbol_lent_value(const struct symbol_lent *lent, const struct symbol_source *source,
		       const struct symbol_statement *statement, unsigned line);

#endif
