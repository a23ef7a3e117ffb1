/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compilers load although the program does not access it: a whole word for the sake of some of
 * its bits, as of a bit-field, both values of `c ? x : y`, of which a conditional move then keeps
 * one, and a vector of which some elements are members of structures that the loop passes over.
 * Told where straight code behind the load makes use of the rest alone, or comes to such a move.
 * Pure functions on bytes and registers handed in.
 */
#ifndef INSN_DISCARD_H
#define INSN_DISCARD_H

#include "insn/hoist.h"
#include "insn/insn.h"
#include "insn/update.h"

#define INSN_DISCARD_BYTES 512 /* of code, the load's own included */
#define INSN_DISCARD_MOST 64   /* bytes loaded */

/*
 * Are the bytes `part` of what a thread has `loaded` discarded, by a conditional move or while
 * something becomes of others?
 * `code` begins with the load, at `pc`, and `beyond` has it where it is; the registers are those
 * behind the load, or `before` it (then of plain moves and vectors alone). A value of which nothing
 * is used does not count: what it was loaded for is not known. False as well where an instruction
 * computes with a register that it then overwrites. Of a part of a vector it is true, too, where
 * the use is not known for certain: where the elements go by a mask or an order that lies in
 * another register, or by an instruction that is not told apart (effect.h). Most vector code is a
 * loop that a compiler made of a program's own, and what it takes into a vector beside the elements
 * that the loop is about leaves it in such ways.
 */
bool insn_discards(const uint8_t *code, size_t available, uint64_t pc,
		   const struct insn_hoist *beyond, const struct insn_registers *registers,
		   bool before, const struct insn_bytes *loaded, const struct insn_bytes *part);

#endif
