/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compilers load although the program does not access it: a whole word for the sake of some of
 * its bits, as of a bit-field, and both values of `c ? x : y`, of which a conditional move then
 * keeps one. Told where straight code behind the load makes use of the rest alone, or comes to such
 * a move. Pure functions on bytes and registers handed in.
 */
#ifndef INSN_DISCARD_H
#define INSN_DISCARD_H

#include "insn/insn.h"
#include "insn/update.h"

#define INSN_DISCARD_BYTES 96 /* of code, the load's own included */

/*
 * Are the bytes `part` of what a thread has `loaded` discarded, by a conditional move or while
 * something becomes of others?
 * `code` begins with the load, at `pc`; the registers are those behind it, or `before` it (then of
 * plain moves alone). A value of which nothing is used does not count: what it was loaded for is
 * not known. False as well where an instruction computes with a register that it then overwrites.
 */
bool insn_discards(const uint8_t *code, size_t available, uint64_t pc,
		   const struct insn_registers *registers, bool before,
		   const struct insn_bytes *loaded, const struct insn_bytes *part);

#endif
