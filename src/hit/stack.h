/* SPDX-License-Identifier: Apache-2.0 */
/* The stack noted with a hit: bytes from *address on, registers beside. tl_access.stack points to
 * one; tools do not look into it. */
#ifndef HIT_STACK_H
#define HIT_STACK_H

#include "record/area.h"
#include "symbol/stack.h"

struct tl_stack {
	struct area_registers registers;
	uint32_t known; /* of the general ones, a bit each */
	uint64_t address;
	size_t length;
	const uint8_t *bytes;
};

/* A notice tells where it was given; of a call what it leaves as it is, too, or the frame pointer
 * alone. */
static inline uint32_t hit_registers_known(const struct area_hit *record)
{
	if (!(record->flags & AREA_HIT_NOTICE))
		return (1u << INSN_GENERAL) - 1;
	return 1u << insn_arch.stack_pointer | 1u << insn_arch.frame_pointer |
	       (record->flags & AREA_HIT_KEPT ? INSN_KEPT_BY_CALLS : 0);
}

/* That of a record, whose bytes it points at. The program may have written any length there. */
static inline struct tl_stack hit_stack(const struct area_hit *record)
{
	return (struct tl_stack){.registers = record->registers,
				 .known = hit_registers_known(record),
				 .address = record->stack_address,
				 .length = record->stack_length < AREA_STACK ? record->stack_length
									     : AREA_STACK,
				 .bytes = record->stack};
}

/* For unwinding it. `memory`: beyond the copy; NULL: none. */
static inline struct symbol_stack_source hit_stack_source(const struct tl_stack *stack,
							  const struct symbol_memory *memory)
{
	struct symbol_stack_source source = {
		.registers = symbol_registers_of(stack->registers.general, stack->registers.pc),
		.copy = stack->bytes,
		.copy_address = stack->address,
		.copy_length = stack->length,
		.memory = memory};

	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (!(stack->known >> i & 1))
			source.registers.known &= ~(1u << symbol_register_encoded(i));
	return source;
}

#endif
