/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions that a library chooses among by the CPU (GNU IFUNC). Stripped of its symbols
 * it names the chooser alone; which function was chosen stands where calls find it, in the
 * relocated tables of the process.
 */
#ifndef SYMBOL_VARIANT_H
#define SYMBOL_VARIANT_H

#include "module/module.h"

/* Adds to the names of the module's object what the process's tables tell, where no name is known.
 * True: there are new ones. Looks at most once a second. */
bool symbol_variants_learn(struct symbol_modules *modules, const struct symbol_module *module);

#endif
