/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the dynamic linker is done with a module. */
#ifndef WATCH_LINKER_H
#define WATCH_LINKER_H

#include "module/modules.h"

#include <stdbool.h>
#include <stdint.h>

struct watched;

/* Returns the address of the function that the dynamic linker calls when its modules have changed;
 * 0: not known. */
uint64_t linker_call(struct watched *process, struct symbol_modules *modules);
/* Has the linker loaded this module, and is no change under way? True if it cannot be asked. */
bool linker_has(struct watched *process, struct symbol_modules *modules,
		const struct symbol_module *module);

#endif
