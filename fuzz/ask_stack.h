/* SPDX-License-Identifier: Apache-2.0 */
/* A stack that leads to `address` from frame to frame, unwound through the modules under test. */
#ifndef ASK_STACK_H
#define ASK_STACK_H

#include "symbol/stack.h"

static inline void ask_stack(struct symbol_modules *modules, const struct symbol_memory *memory,
			     uint64_t address)
{
	struct symbol_stack_frame stack[8];
	uint64_t words[64];
	struct symbol_stack_source source = {.copy = words,
					     .copy_address = 0x7000,
					     .copy_length = sizeof(words),
					     .memory = memory};
	bool complete;

	for (unsigned i = 0; i < 64; i++)
		words[i] = i % 2 ? address + i : 0x7000 + 8 * i;
	for (unsigned i = 0; i < SYMBOL_REGISTER_COUNT; i++)
		symbol_register_set(&source.registers, i, 0x7000);
	symbol_register_set(&source.registers, SYMBOL_PC, address);
	symbol_stack_unwind(modules, &source, stack, 8, &complete);
}

#endif
