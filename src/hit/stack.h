/* SPDX-License-Identifier: Apache-2.0 */
/* The stack noted with a hit: bytes from *address on, registers beside. tl_access.stack points to
 * one; tools do not look into it. */
#ifndef HIT_STACK_H
#define HIT_STACK_H

#include "record/area.h"
#include "symbol/stack.h"

struct tl_stack {
	struct area_registers registers;
	uint64_t address;
	size_t length;
	const uint8_t *bytes;
};

/* That of a record, whose bytes it points at. The program may have written any length there. */
static inline struct tl_stack hit_stack(const struct area_hit *record)
{
	return (struct tl_stack){.registers = record->registers,
				 .address = record->stack_address,
				 .length = record->stack_length < AREA_STACK ? record->stack_length
									     : AREA_STACK,
				 .bytes = record->stack};
}

/* For unwinding it. `memory`: beyond the copy; NULL: none. */
static inline struct symbol_stack_source hit_stack_source(const struct tl_stack *stack,
							  const struct symbol_memory *memory)
{
	return (struct symbol_stack_source){
		.registers = symbol_registers_of(stack->registers.general, stack->registers.pc),
		.copy = stack->bytes,
		.copy_address = stack->address,
		.copy_length = stack->length,
		.memory = memory};
}

#endif
