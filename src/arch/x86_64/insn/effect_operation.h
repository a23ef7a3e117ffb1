/* SPDX-License-Identifier: Apache-2.0 */
/* Which operation an instruction carries out. Not for other folders. */
#ifndef INSN_EFFECT_OPERATION_H
#define INSN_EFFECT_OPERATION_H

#include "insn/effect.h"

#include <Zydis/Zydis.h>

struct effect_decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

/* INSN_COMPUTE: not known. `*element`: bytes, of INSN_ELEMENTS and INSN_TOP_BITS; else 0. */
enum insn_operation effect_operation(const struct effect_decoded *decoded, unsigned *element);

/* Of INSN_ELEMENTS: what becomes of each element. */
void effect_element(const struct effect_decoded *decoded, struct insn_result *result);

/* pcmpeq and its like. */
bool effect_compares_equal(ZydisMnemonic mnemonic);
/* What INSN_CONSTANT leaves in each 8 bytes. */
uint64_t effect_constant(const struct effect_decoded *decoded);

/* Of instructions that compute the lowest element of a vector register and leave the rest: the
 * element's bytes; else 0. `*takes_destination`: it is computed of what was there, too. */
unsigned effect_scalar(ZydisMnemonic mnemonic, bool *takes_destination);

/* The same of those that compute it of all three operands (FMA). */
unsigned effect_scalar_fused(ZydisMnemonic mnemonic);

/* Of instructions that look at the lowest element of vector registers alone, to compare it or to
 * make an integer of it: the element's bytes; else 0. */
unsigned effect_scalar_taken(ZydisMnemonic mnemonic);

#endif
