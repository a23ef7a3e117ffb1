/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions are those of vectors. Not for other folders. */
#ifndef INSN_VECTOR_H
#define INSN_VECTOR_H

#include <Zydis/Zydis.h>
#include <stdbool.h>

/* SSE, AVX, AVX-512, x87, MMX: whatever accesses memory for no general register. */
bool vector_is(const ZydisDecodedInstruction *instruction);

/*
 * A move of 16 bytes that must be aligned, and that processors with AVX make in one piece (Intel
 * SDM volume 3A, 9.1.1). Compilers and libraries make atomic accesses by these alone, never by
 * those that take any address, nor by the operands of other instructions.
 */
bool vector_moves_whole(const ZydisDecodedInstruction *instruction);

/* Does it bring what a comparison of vectors found to a general register or the flags? */
bool vector_is_outcome(const ZydisDecodedInstruction *instruction,
		       const ZydisDecodedOperand *operands);

#endif
