/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction before a place, for attribution: through memory that may refuse, and by vote. */
#ifndef INSN_PREVIOUS_H
#define INSN_PREVIOUS_H

#include "insn/insn.h"

#define INSN_VOTE_BYTES 64

/*
 * As insn_previous(), through `memory`. *entered tells whether a jump on the way leads into the
 * middle of the instruction found: single-threaded processes jump over a LOCK prefix so (catomic_*
 * of glibc before 2.37), and where data lies between instructions it betrays that decoding fell out
 * of step.
 */
int insn_previous_read(const struct insn_memory *memory, uint64_t start, uint64_t pc,
		       uint64_t *previous_pc, struct insn *previous, bool *entered);

/* The bytes before `pc` into the end of `bytes`: as many as can be read, at most `length` (up to
 * 64). Returns how many. */
size_t insn_read_before(const struct insn_memory *memory, uint64_t pc, uint8_t *bytes,
			size_t length);

/*
 * Every decoding that begins at one of the `available` bytes (at most INSN_VOTE_BYTES) and arrives
 * at their end votes for the length of its last instruction. Code falls into step within a few
 * instructions, so the true one gets most votes; a guess still.
 */
void insn_previous_votes(const uint8_t *before, size_t available,
			 uint8_t votes[INSN_MAX_LENGTH + 1]);

#endif
