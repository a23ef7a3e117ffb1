/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counts as atomic by its name alone: types, functions, words in source text, header files.
 * Every such rule is in atomic_names.c, to be audited in one place.
 */
#ifndef DWARF_ATOMIC_NAMES_H
#define DWARF_ATOMIC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A struct or class: std::atomic<int>, core::sync::atomic::AtomicU32 (by its unqualified name). */
bool symbol_atomic_type_name(const char *name);
/* A function as symbol_frame.function gives it, or by its linkage name. */
bool symbol_atomic_function_name(const char *name);
/* A function whose own code, without what is inlined into it, accesses counts of references alone.
 */
bool symbol_atomic_counting(const char *name);
/* A word of source text that makes a statement atomic, or that hides what it does. */
bool symbol_atomic_word(const char *word, size_t length);
/* A header whose code is the implementation of atomic operations. */
bool symbol_atomic_file(const char *path);
/* Words that make a statement's accesses unknowable from its text (inline assembly). */
bool symbol_opaque_word(const char *word, size_t length);
/* Methods that are atomic operations in Rust and C++, when called on something (".load("). */
bool symbol_atomic_method(const char *word, size_t length);

#endif
