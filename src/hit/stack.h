/* SPDX-License-Identifier: Apache-2.0 */
/* The stack that was noted with a hit: `length` bytes from `address` on, and the registers.
 * tl_access.stack points to one; tools do not look into it. */
#ifndef HIT_STACK_H
#define HIT_STACK_H

#include "record/area.h"
#include "symbol/stack.h"

struct tl_stack {
	struct area_registers registers;
	uint32_t known; /* which general ones are, a bit each */
	uint64_t address;
	size_t length;
	const uint8_t *bytes;
};

/* Which general registers the record tells, a bit each. A hit tells all. A notice, which the
 * program gives in a call, tells the stack pointer, the frame pointer and, where it says so, those
 * that calls leave as they are. */
static inline uint32_t hit_registers_known(const struct area_hit *record)
{
	if (!(record->flags & AREA_HIT_NOTICE))
		return (1u << INSN_GENERAL) - 1;
	return 1u << insn_arch.stack_pointer | 1u << insn_arch.frame_pointer |
	       (record->flags & AREA_HIT_KEPT ? INSN_KEPT_BY_CALLS : 0);
}

/* The stack of a record, into which `bytes` points. The program may have written any length there,
 * so it is bounded. */
static inline struct tl_stack hit_stack(const struct area_hit *record)
{
	return (struct tl_stack){.registers = record->registers,
				 .known = hit_registers_known(record),
				 .address = record->stack_address,
				 .length = record->stack_length < AREA_STACK ? record->stack_length
									     : AREA_STACK,
				 .bytes = record->stack};
}

/* For unwinding the stack. `memory`: what is read beyond the copy; NULL: nothing is. */
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
