/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements that a directive makes atomic: OpenMP's and OpenACC's `atomic`, as `#pragma`, as
 * `_Pragma` and as a C++ attribute.
 */
#ifndef SOURCE_PRAGMA_H
#define SOURCE_PRAGMA_H

#include "source/source.h"
#include "source/statement.h"
#include "source/token.h"

#include <stdbool.h>

enum symbol_pragma {
	SYMBOL_PRAGMA_NONE,
	SYMBOL_PRAGMA_READ,  /* `v = x;`: what is right of the assignment is atomic */
	SYMBOL_PRAGMA_STORE, /* `x = e;`, `x += e;`: what is left of it, or all there is, is */
	SYMBOL_PRAGMA_MIXED, /* both, or a block of several statements */
};

/* What a `#pragma` in front makes of the statement, or of a part of it. */
enum symbol_pragma symbol_pragma_over(const struct symbol_source *source,
				      const struct symbol_tokens *tokens,
				      const struct symbol_statement *statement);

/* A directive in front of which, or in whose extent, a line stands: the statement, or the block,
 * that it makes atomic. False: none. */
bool symbol_pragma_at(const struct symbol_source *source, const struct symbol_tokens *tokens,
		      unsigned line, struct symbol_statement *extent, enum symbol_pragma *form);

/*
 * A construct that ends by updating what its reductions name, atomically where no critical section
 * is made of it; within it these names stand for copies of the thread's own.
 */
struct symbol_reduction {
	unsigned line;			 /* of its directive */
	struct symbol_statement extent;	 /* of what the directive applies to */
	const struct symbol_token *item; /* what is reduced, among other clauses perhaps; their
					    number is 0 where it cannot be told */
	size_t items;
};

/* The next one in the source; *next is 0 at first. False: there is none. */
bool symbol_pragma_reduction(const struct symbol_source *source, size_t *next,
			     struct symbol_reduction *reduction);

/* Do the tokens begin with `_Pragma("omp atomic …")`, or with an attribute that says so? */
bool symbol_pragma_here(const struct symbol_source *source, const struct symbol_token *token,
			size_t count);

/* Is it the accesses of this variable that a directive of this form makes atomic? Names alone are
 * looked at: an alias is taken for another variable. */
bool symbol_pragma_names(enum symbol_pragma form, const struct symbol_source *source,
			 const struct symbol_token *token, size_t count, const char *name);

/* The first token of what the directive makes atomic, or `count` where several or none can be told.
 */
size_t symbol_pragma_operand(enum symbol_pragma form, const struct symbol_source *source,
			     const struct symbol_token *token, size_t count);

/* The opening brace of the block around a token, or `at` when there is none. */
size_t symbol_pragma_block(const struct symbol_tokens *tokens, size_t at);

/* False when the producer tells that the compiler passed over such directives: GCC writes down its
 * options, and -fopenmp or -fopenacc is not among them. */
bool symbol_pragma_heeded(const char *producer);

#endif
