/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: was the access at a code address meant to be atomic? A plain aligned move is the same
 * instruction either way; compilers' metadata, debug information and the source text tell more: the
 * statement (atomicity/evidence.h), the macros in it (atomicity/macro.h), and what its words are
 * names of (atomicity/vocabulary.h). What is atomic by its name alone is in dwarf/atomic_names.c.
 *
 * PLAIN is said only when it is proved: the whole statement is at hand, unchanged since the build,
 * and every word in it is known not to be atomic. Everything doubtful is UNKNOWN. Runs in the
 * reader of files, or where there is none in the thread that has the session.
 */
#ifndef ATOMICITY_ATOMICITY_H
#define ATOMICITY_ATOMICITY_H

#include "module/module.h"
#include "symbol/variable.h"

enum symbol_atomicity {
	SYMBOL_ATOMICITY_UNKNOWN,
	SYMBOL_ATOMICITY_ATOMIC,
	SYMBOL_ATOMICITY_PLAIN,
	SYMBOL_ATOMICITY_VOLATILE, /* plain, of a volatile: no atomic operation, but often taken for
				      one */
	SYMBOL_ATOMICITY_MIXED,	   /* its statement has an atomic operation, which it may be */
	SYMBOL_ATOMICITY_ORDERED,  /* plain, of a volatile, in a function that orders memory */
};

enum symbol_load {
	SYMBOL_LOAD_NONE,    /* it writes */
	SYMBOL_LOAD_MOVE,    /* it reads alone */
	SYMBOL_LOAD_OPERAND, /* it reads what an instruction computes with, `cmp`, `test`, `add` */
};

#define SYMBOL_REASON_MAX 256

/* `pc`: of the accessing instruction itself. `variable`: what it accessed, as far as known, or
 * NULL. `reason` receives one short phrase. */
enum symbol_atomicity symbol_atomicity_judge(struct symbol_modules *modules, uint64_t pc,
					     const struct symbol_variable *variable,
					     enum symbol_load load, char reason[SYMBOL_REASON_MAX]);

#endif
