/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of one frame in DWARF's x86-64 numbering (System V ABI, figure 3.36). */
#ifndef SYMBOL_REGISTERS_H
#define SYMBOL_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SYMBOL_RAX,
	SYMBOL_RDX,
	SYMBOL_RCX,
	SYMBOL_RBX,
	SYMBOL_RSI,
	SYMBOL_RDI,
	SYMBOL_RBP,
	SYMBOL_RSP,
	SYMBOL_R8,
	SYMBOL_R9,
	SYMBOL_R10,
	SYMBOL_R11,
	SYMBOL_R12,
	SYMBOL_R13,
	SYMBOL_R14,
	SYMBOL_R15,
	SYMBOL_PC,
	SYMBOL_REGISTER_COUNT
};

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

/* DWARF's number of the register that the instruction encoding has as `number` (0 to 15). */
static inline unsigned symbol_register_encoded(unsigned number)
{
	static const uint8_t dwarf[16] = {SYMBOL_RAX, SYMBOL_RCX, SYMBOL_RDX, SYMBOL_RBX,
					  SYMBOL_RSP, SYMBOL_RBP, SYMBOL_RSI, SYMBOL_RDI,
					  SYMBOL_R8,  SYMBOL_R9,  SYMBOL_R10, SYMBOL_R11,
					  SYMBOL_R12, SYMBOL_R13, SYMBOL_R14, SYMBOL_R15};

	return dwarf[number & 15];
}

/* From the order of the instruction encoding (rax rcx rdx rbx rsp rbp rsi rdi r8 … r15), all known.
 */
static inline struct symbol_registers symbol_registers_of(const uint64_t general[16], uint64_t pc)
{
	static const uint8_t encoding[16] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
	struct symbol_registers registers = {.known = (1u << SYMBOL_REGISTER_COUNT) - 1};

	for (unsigned i = 0; i < 16; i++)
		registers.value[i] = general[encoding[i]];
	registers.value[SYMBOL_PC] = pc;
	return registers;
}

#endif
