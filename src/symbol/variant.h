/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions that a library chooses among by the CPU (GNU IFUNC). A stripped library names
 * only the function that chooses. Which one was chosen stands in the process's relocated tables,
 * where calls find it.
 */
#ifndef SYMBOL_VARIANT_H
#define SYMBOL_VARIANT_H

#include "module/module.h"

/* Adds names that the process's tables tell to code of the module's object that has none. True:
 * there are new names. Looks once a second at most. */
bool symbol_variants_learn(struct symbol_modules *modules, const struct symbol_module *module);

#endif
