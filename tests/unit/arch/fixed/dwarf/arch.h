/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DWARF_ARCH_H
#define DWARF_ARCH_H

enum { SYMBOL_FP = 5, SYMBOL_SP, SYMBOL_PC = 8, SYMBOL_REGISTER_COUNT };

static inline unsigned symbol_register_encoded(unsigned number)
{
	return number;
}

#endif
