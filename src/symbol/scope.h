/* SPDX-License-Identifier: Apache-2.0 */
/* Local variables: which of a frame's variables is at an address. */
#ifndef SYMBOL_SCOPE_H
#define SYMBOL_SCOPE_H

#include "symbol/object.h"
#include "symbol/stack.h"

/* The variable or parameter of the function of `frame` whose memory holds `address`: its entry, the
 * function's entry, and where it starts. `bias` is the module's. 0 or -ENOENT. */
int symbol_scope_variable_at(struct symbol_object *object, uint64_t bias,
			     const struct symbol_stack_frame *frame,
			     const struct symbol_memory *memory, uint64_t address,
			     Dwarf_Die *variable, Dwarf_Die *function, uint64_t *start);

#endif
