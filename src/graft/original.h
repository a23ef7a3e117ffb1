/* SPDX-License-Identifier: Apache-2.0 */
/* The old function, where it can still be called: an execution breakpoint stands at its first
 * instruction alone, so a copy of that one, which goes on at the second, is the whole function. */
#ifndef GRAFT_ORIGINAL_H
#define GRAFT_ORIGINAL_H

#include "graft/image.h"
#include "module/module.h"

#define GRAFT_ORIGINAL_MOST 32 /* bytes of a copy */

/* Code that does at any place what the function at `address` does. 0; -EINVAL with a sentence where
 * the first instruction cannot run elsewhere. */
int graft_original_copy(struct symbol_modules *modules, uint64_t address,
			uint8_t code[GRAFT_ORIGINAL_MOST], struct graft_error *error);

#endif
