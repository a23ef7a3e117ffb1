/* SPDX-License-Identifier: Apache-2.0 */
/* Did an operand touch given bytes? What attribution asks of operands. */
#ifndef INSN_OPERAND_H
#define INSN_OPERAND_H

#include "insn/insn.h"

enum insn_touch {
	INSN_TOUCH_NO,	  /* certainly not */
	INSN_TOUCH_MAYBE, /* address, mask or extent cannot be known from the registers */
	INSN_TOUCH_YES,	  /* if the instruction ran, it touched one of the bytes */
};

/*
 * Whether `operand` of an instruction that has just run touched [watched, watched +
 * watched_length), and which of its bytes: for gathers and masked operands the element, else the
 * whole operand. *length is 0 where the address is unknown. For a repeated string instruction: its
 * last iteration.
 */
enum insn_touch insn_operand_touch(const struct insn *insn, unsigned operand,
				   const struct insn_registers *after, uint64_t watched,
				   uint64_t watched_length, uint64_t *first, uint64_t *length);

/* True if [a, a + a_length) and [b, b + b_length) share a byte; ranges may wrap around. */
static inline bool insn_overlap(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length)
{
	return a - b < b_length || b - a < a_length;
}

#endif
