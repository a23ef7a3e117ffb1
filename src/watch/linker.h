/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the dynamic linker is done with a module. */
#ifndef WATCH_LINKER_H
#define WATCH_LINKER_H

#include "module/modules.h"

#include <stdbool.h>
#include <stdint.h>

struct watched;

/* Where it tells of changed modules, 0 if not known; has it loaded a module that is
 * mapped, and no change under way? True where it cannot be asked. */
uint64_t linker_call(struct watched *process, struct symbol_modules *modules);
bool linker_has(struct watched *process, struct symbol_modules *modules,
		const struct symbol_module *module);

#endif
