/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking over code one instruction after the other, through an insn_memory that may refuse. A
 * window of the code is kept, so that a walk costs one read per INSN_WINDOW bytes.
 */
#ifndef INSN_WALK_H
#define INSN_WALK_H

#include "insn/insn.h"

#define INSN_WINDOW 256

struct insn_walk {
	const struct insn_memory *memory;
	uint64_t at;	/* of the next instruction */
	uint64_t limit; /* nothing at or past it is read */
	uint64_t window_start;
	uint32_t window_length;
	uint8_t window[INSN_WINDOW];
};

/* A walk from `start`; no byte at or past `limit` is read. */
void insn_walk_begin(struct insn_walk *walk, const struct insn_memory *memory, uint64_t start,
		     uint64_t limit);

/* The bytes at walk->at, at most `wanted`, fewer before the limit or unreadable memory; *available
 * is how many (0 if none). */
const uint8_t *insn_walk_bytes(struct insn_walk *walk, size_t wanted, size_t *available);

/* Step over one instruction: its length, or -ENODATA, -EILSEQ as insn_decode(). */
int insn_walk_step(struct insn_walk *walk);

/* Decode the instruction at `pc`. */
int insn_fetch(const struct insn_memory *memory, uint64_t pc, uint64_t limit, struct insn *insn);

#endif
