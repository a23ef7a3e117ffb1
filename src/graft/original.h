/* SPDX-License-Identifier: Apache-2.0 */
/* How the old function can still be called: an execution breakpoint stands at its first instruction
 * alone, so a copy of that instruction followed by a jump to the second one does what the whole
 * function does. */
#ifndef GRAFT_ORIGINAL_H
#define GRAFT_ORIGINAL_H

#include "graft/image.h"
#include "module/module.h"

#define GRAFT_ORIGINAL_MOST 32 /* bytes of a copy */

/* Makes code that does at any place what the function at `address` does. 0; -EINVAL with a sentence
 * where the first instruction cannot run elsewhere. */
int graft_original_copy(struct symbol_modules *modules, uint64_t address,
			uint8_t code[GRAFT_ORIGINAL_MOST], struct graft_error *error);

#endif
