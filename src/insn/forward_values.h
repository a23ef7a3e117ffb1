/* SPDX-License-Identifier: Apache-2.0 */
/* Values that may be unknown, and where an instruction's operands are. Not for other folders. */
#ifndef INSN_FORWARD_VALUES_H
#define INSN_FORWARD_VALUES_H

#include "insn/forward.h"

#include <Zydis/Zydis.h>

#define FORWARD_RSP 4
#define FORWARD_RBP 5

struct value {
	uint64_t bits;
	bool known;
};

struct step {
	struct insn_forward *forward;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t next; /* behind it */
};

static const struct value value_unknown;

static inline struct value value_known(uint64_t bits)
{
	return (struct value){bits, true};
}

/* The low `size` bits; those, with their sign. */
static inline uint64_t value_cut(uint64_t bits, unsigned size)
{
	return size < 64 ? bits & ((1ull << size) - 1) : bits;
}

static inline uint64_t value_extend(uint64_t bits, unsigned size)
{
	return size && size < 64 ? (uint64_t)((int64_t)(bits << (64 - size)) >> (64 - size)) : bits;
}

/* Number of a general register of any width, or -1. */
int forward_register_number(ZydisRegister name);
struct value forward_read_register(const struct insn_forward *forward, ZydisRegister name);
void forward_write_register(struct insn_forward *forward, ZydisRegister name, struct value value);
void forward_forget_register(struct insn_forward *forward, int number);

struct value forward_read_memory(const struct insn_forward *forward, uint64_t address,
				 unsigned length);
void forward_write_memory(struct insn_forward *forward, uint64_t address, unsigned length,
			  struct value value);

/* False: it is not known. */
bool forward_address(const struct step *step, const ZydisDecodedOperand *operand,
		     uint64_t *address);
struct value forward_get(const struct step *step, unsigned operand);
void forward_set(struct step *step, unsigned operand, struct value value);

#endif
