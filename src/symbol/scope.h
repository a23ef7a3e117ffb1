/* SPDX-License-Identifier: Apache-2.0 */
/* Local variables: which of a frame's variables is at an address. */
#ifndef SYMBOL_SCOPE_H
#define SYMBOL_SCOPE_H

#include "elf/object.h"
#include "symbol/stack.h"

struct symbol_scope_found {
	Dwarf_Die variable, function, type;
	uint64_t start;
};

enum symbol_scope_way {
	SYMBOL_SCOPE_OWN,      /* the variable itself lies at the address */
	SYMBOL_SCOPE_REFERRED, /* the variable is a reference to what lies there */
};

/* The variable or parameter of the function of `frame` whose memory holds `address`: its entry, the
 * function's entry, its type or what it refers to, and where that starts. `bias` is the module's. 0
 * or -ENOENT. */
int symbol_scope_variable_at(struct symbol_object *object, uint64_t bias,
			     const struct symbol_stack_frame *frame,
			     const struct symbol_memory *memory, uint64_t address,
			     enum symbol_scope_way way, struct symbol_scope_found *found);

#endif
