/* SPDX-License-Identifier: Apache-2.0 */
/* Which compilers made a file, as its .comment section tells, in stripped files too. */
#ifndef SYMBOL_COMPILER_H
#define SYMBOL_COMPILER_H

#include "module/module.h"

#include <stdbool.h>

/* The section's texts ("GCC: (Debian 12.2.0-14) 12.2.0", …) one after another, each ended by NUL,
 * in *length bytes; NULL if there are none. Every compiler that contributed an object file is
 * named. */
const char *symbol_compilers(struct symbol_modules *modules, uint64_t pc, size_t *length);
/* The compiler of the code at `pc` and its options, in its own words (DW_AT_producer: "GNU C17
 * 12.2.0 …"); NULL without debug information. */
const char *symbol_producer(struct symbol_modules *modules, uint64_t pc);
/* Is it one of GCC's compilers? Its assembler does not count. */
bool symbol_producer_is_gcc(const char *producer);

#endif
