/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64's numbers of registers in DWARF: System V ABI, figure 3.36. */
#ifndef SYMBOL_ARCH_H
#define SYMBOL_ARCH_H

#include <stdint.h>

enum {
	SYMBOL_RAX,
	SYMBOL_RDX,
	SYMBOL_RCX,
	SYMBOL_RBX,
	SYMBOL_RSI,
	SYMBOL_RDI,
	SYMBOL_FP,
	SYMBOL_SP,
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

/* Of the register that the instruction encoding has as `number` (0 to 15). */
static inline unsigned symbol_register_encoded(unsigned number)
{
	static const uint8_t dwarf[16] = {SYMBOL_RAX, SYMBOL_RCX, SYMBOL_RDX, SYMBOL_RBX,
					  SYMBOL_SP,  SYMBOL_FP,  SYMBOL_RSI, SYMBOL_RDI,
					  SYMBOL_R8,  SYMBOL_R9,  SYMBOL_R10, SYMBOL_R11,
					  SYMBOL_R12, SYMBOL_R13, SYMBOL_R14, SYMBOL_R15};

	return dwarf[number & 15];
}

#endif
