/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What unwinding knows of an architecture (insn/hooks.h has how one is chosen). "unwind/arch.h" has
 *   enum unwind_register  DWARF's numbers, among them UNWIND_SP, UNWIND_FP and UNWIND_PC; what
 *                         holds the return address is UNWIND_PC, or a register that each frame's
 *                         information names; UNWIND_REGISTER_COUNT, at most 32
 *   UNWIND_ROW_ORDER      of a frame that is remembered (rows.h): registers that functions keep,
 *                         and last what the return address is saved as; UNWIND_ROW_REGISTERS
 *                         of them, at most 8
 *   unwind_arch           the struct below
 */
#ifndef UNWIND_HOOKS_H
#define UNWIND_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct unwind_hooks {
	/* Registers that a function leaves as they were unless its information says where they
	 * are, a bit each; without the stack pointer and the pc. A register that the return address
	 * is in belongs to them. */
	uint32_t kept;
	/* Bytes below the stack pointer in which a frame may have saved registers. */
	unsigned red_zone;
	/* Registers of an interrupted thread, by DWARF's numbers. */
	void (*registers)(const ucontext_t *context, uint64_t value[]);
	/* Of the calling code, as they are there: those of `kept`, the stack pointer and the pc. */
	void (*here)(uint64_t value[]);
	/* DWARF's number of each general register that functions keep, in the order of the
	 * instruction encoding (insn/arch.h); 0 at the others. */
	const uint8_t *encoded;
	/* Is what ends at the end of these `call_window` bytes a call? */
	unsigned call_window;
	bool (*ends_with_call)(const uint8_t *before);
	/* The caller of code that has run nothing yet, by its registers: the return address stands
	 * at the stack pointer (which then moves), or else is in the register `link`. */
	bool calls_push;
	uint8_t link;
	/* Words that a frame pointer points to: the caller's frame pointer, the return address. */
	uint8_t frame_words;
};

#define UNWIND_WINDOW_MOST 16

#endif
