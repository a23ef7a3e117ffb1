/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers of one frame by DWARF's numbers. "dwarf/arch.h" is the architecture's (insn/hooks.h):
 * it has SYMBOL_SP, SYMBOL_FP, SYMBOL_PC, SYMBOL_REGISTER_COUNT, at most 31, and
 * symbol_register_encoded(), DWARF's number of a general register.
 */
#ifndef DWARF_REGISTERS_H
#define DWARF_REGISTERS_H

#include "dwarf/arch.h"
#include "insn/arch.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol_registers {
	uint64_t value[SYMBOL_REGISTER_COUNT];
	uint32_t known; /* bit per register */
};

static inline bool symbol_register_known(const struct symbol_registers *registers, unsigned number)
{
	return number < SYMBOL_REGISTER_COUNT && (registers->known >> number & 1);
}

static inline void symbol_register_set(struct symbol_registers *registers, unsigned number,
				       uint64_t value)
{
	registers->value[number] = value;
	registers->known |= 1u << number;
}

/* From the order of the instruction encoding (insn/arch.h), all known. */
static inline struct symbol_registers symbol_registers_of(const uint64_t general[INSN_GENERAL],
							  uint64_t pc)
{
	struct symbol_registers registers = {.known = (1u << SYMBOL_REGISTER_COUNT) - 1};

	for (unsigned i = 0; i < INSN_GENERAL; i++)
		registers.value[symbol_register_encoded(i)] = general[i];
	registers.value[SYMBOL_PC] = pc;
	return registers;
}

#endif
