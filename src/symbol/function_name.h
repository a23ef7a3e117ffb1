/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions by symbol tables alone, which are all that stripped files have. */
#ifndef SYMBOL_FUNCTION_NAME_H
#define SYMBOL_FUNCTION_NAME_H

#include "module/module.h"

/* The function around `pc`, as linked; or NULL. */
const char *symbol_function_name(struct symbol_modules *modules, uint64_t pc);

#endif
