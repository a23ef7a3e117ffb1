/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that the text of a unit's sources declares _Atomic, where debug information leaves that
 * out (atomicity/language.h): variables, members, parameters and functions, by _Atomic itself, by
 * the types of <stdatomic.h>, and by typedefs and macros that begin with these.
 */
#ifndef ATOMICITY_DECLARED_H
#define ATOMICITY_DECLARED_H

#include "atomicity/macro.h"

/* Reads all of the unit's sources at first use. */
bool symbol_declared_atomic(struct symbol_macros *macros, const char *name, size_t length);

struct symbol_declared;

#endif
