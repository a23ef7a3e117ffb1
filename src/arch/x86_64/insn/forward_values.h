/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction's operands hold, as Zydis decodes them. Not for other folders. */
#ifndef INSN_FORWARD_VALUES_H
#define INSN_FORWARD_VALUES_H

#include "insn/values.h"

#include <Zydis/Zydis.h>

#define FORWARD_RSP 4
#define FORWARD_RBP 5

struct step {
	struct insn_forward *forward;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t next; /* behind it */
};

/* Zero, sign and parity are the result's; carry and overflow are clear. */
void forward_set_flags(struct insn_forward *forward, uint64_t result, unsigned size);

/* Searches for bits, rotations, wide products and what else works on single bits. False: it is none
 * of them. */
bool forward_carry_out_bits(struct step *step);

/* Quotients, and the halves that a signed one needs. False: it is none of them. */
bool forward_carry_out_division(struct step *step);

/* All that the instruction writes is not known from here on. */
void forward_forget_results(struct step *step);

/* Number of a general register of any width, or -1. */
int forward_register_number(ZydisRegister name);
struct value forward_read_register(const struct insn_forward *forward, ZydisRegister name);
void forward_write_register(struct insn_forward *forward, ZydisRegister name, struct value value);

/* False: it is not known. */
bool forward_address(const struct step *step, const ZydisDecodedOperand *operand,
		     uint64_t *address);
struct value forward_get(const struct step *step, unsigned operand);
void forward_set(struct step *step, unsigned operand, struct value value);

#endif
