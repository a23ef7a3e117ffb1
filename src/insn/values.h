/* SPDX-License-Identifier: Apache-2.0 */
/* Values that may be unknown, in registers and in memory. Not for other folders. */
#ifndef INSN_VALUES_H
#define INSN_VALUES_H

#include "insn/forward.h"

struct value {
	uint64_t bits;
	bool known;
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

/* A whole general register by its number; below 0: none. */
void forward_know_register(struct insn_forward *forward, int number, uint64_t bits);
void forward_forget_register(struct insn_forward *forward, int number);

struct value forward_read_memory(const struct insn_forward *forward, uint64_t address,
				 unsigned length);
void forward_write_memory(struct insn_forward *forward, uint64_t address, unsigned length,
			  struct value value);

#endif
