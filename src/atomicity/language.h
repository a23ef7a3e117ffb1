/* SPDX-License-Identifier: Apache-2.0 */
/* What the language of a unit, and the debug information of its version, let a statement tell. */
#ifndef ATOMICITY_LANGUAGE_H
#define ATOMICITY_LANGUAGE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

/* Is its text one that tokens and statements are known of: of C and what was made of it, or Rust?
 */
bool symbol_language_is_read(Dwarf_Die *unit);
bool symbol_language_is_rust(Dwarf_Die *unit);

/* Could an object be declared _Atomic, and its type not say so? DW_TAG_atomic_type is of DWARF 5:
 * GCC and Clang leave it out of earlier versions, which they write by themselves up to GCC 10 and
 * Clang 13. */
bool symbol_language_hides_atomic(Dwarf_Die *unit);

/* A word that says nothing of atomicity: of the language, and names that every header defines; … */
bool symbol_language_keyword(const char *word, size_t length, bool rust_too);
/* … a compiler's own function that is no atomic operation. */
bool symbol_language_builtin(const char *word, size_t length);
/* A function of the C library that compilers make instructions of, or replace by another one, so
 * that no symbol table has it. C reserves these names, so that no program's function has them; a
 * macro may. */
bool symbol_language_inlined(const char *word, size_t length);

#endif
