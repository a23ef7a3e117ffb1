/* SPDX-License-Identifier: Apache-2.0 */
/* What a module calls in others, known even before the dynamic linker has looked it up. */
#ifndef SYMBOL_IMPORT_H
#define SYMBOL_IMPORT_H

#include "module/module.h"

/* The name of the function that the word at `slot`, in a module's procedure linkage table, will
 * lead to, by its relocation (R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT); or NULL. */
const char *symbol_import_name(struct symbol_modules *modules, uint64_t slot);

#endif
