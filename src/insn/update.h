/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a thread within an update, between reading an object and writing it back? Told where straight
 * code leads from the load to the store (x++ without an instruction of its own), by registers that
 * it does not change on the way, and what is stored comes of what was loaded. Pure functions on
 * bytes and registers handed in.
 */
#ifndef INSN_UPDATE_H
#define INSN_UPDATE_H

#include "insn/insn.h"

#define INSN_UPDATE_BYTES 48 /* of code between the load and the store of one statement */

struct insn_bytes {
	uint64_t address, length; /* length: at most 8 */
};

/* Does a thread that stands behind `load`, of `object`, with these registers, go on to store there
 * what comes of it? `code`: the bytes at registers->pc. */
bool insn_update_follows(const uint8_t *code, size_t available, const struct insn *load,
			 const struct insn_registers *registers, const struct insn_bytes *object);

/* Has a thread that stands before a store to `object`, with these registers, come from a load of
 * it? `code`: the bytes of the function, [start, start + available). False where a jump may lead in
 * between. */
bool insn_update_begun(const uint8_t *code, size_t available, uint64_t start,
		       const struct insn_registers *registers, const struct insn_bytes *object);

/*
 * Does what a thread has loaded from `object` into the register `loaded` become what a LOCK CMPXCHG
 * of the same bytes expects there, on straight code? So begin the loops that compilers make of an
 * atomic operation without an instruction of its own: the value is a proposal, which the
 * instruction compares. `registers` and `code`: behind the load.
 */
bool insn_retry_follows(const uint8_t *code, size_t available,
			const struct insn_registers *registers, int loaded,
			const struct insn_bytes *object);

#define INSN_PROLOGUE_BYTES 64 /* of a function that are looked at for that: */

/*
 * Does a function put an argument from its register into its frame before it touches any other
 * memory, as compilers do that were told not to optimise? Those translate statement by statement,
 * so that an update in two steps says nothing of how it is written in the source. `code`: the
 * function's first bytes, which begin at `start`. False of functions without arguments. Accepted:
 * optimised code with a frame pointer that runs short of registers may begin so, too.
 */
bool insn_is_unoptimised(const uint8_t *code, size_t available, uint64_t start);

#endif
