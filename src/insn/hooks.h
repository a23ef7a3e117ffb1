/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What src/insn and those above it know of an architecture's instructions; with its sisters
 * unwind/hooks.h, signal/hooks.h, agent/hooks.h and event/hooks.h all that they know of one.
 *
 * An architecture is a folder src/arch/NAME that has these rooms' parts of it. The build puts one
 * of them among the folders in which headers are looked for, so "insn/arch.h" is that one's. It has
 *   INSN_MAX_LENGTH     bytes of the longest instruction
 *   INSN_GENERAL        how many general registers are numbered from 0 on, at most 16
 *   INSN_PC             the number that stands for the pc in an operand
 *   INSN_KEPT_BY_CALLS  those that a called function leaves as they were, a bit per number
 *   insn_arch           the struct below, `static const`: the compiler knows what is in it, so what
 *                       signal handlers reach is called directly or inlined, and what another kind
 *                       of architecture needs is left out.
 * and the functions of insn.h, length.h, effect.h, forward.h, operand.h and origin_step.h that are
 * named here: insn_decode(), insn_length(), insn_operand_before(), insn_operand_after(),
 * insn_operand_touch(), insn_condition_holds(), insn_effect_decode(), insn_forward_step(),
 * insn_forward_holds(), insn_forward_return(), insn_origin_step().
 * tests/unit/arch is the smallest example.
 */
#ifndef INSN_HOOKS_H
#define INSN_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSN_SYSTEM_CALL_ARGUMENTS 6
#define INSN_FUNCTION_ARGUMENTS 6

struct insn_hooks {
	/* A data watchpoint traps when the access has been made, and pc is where the thread goes
	 * next. False: before, and pc is the instruction that is about to access. */
	bool traps_after;
	/* Every instruction is so long, and begins at a multiple of it; 0: lengths differ. */
	uint8_t fixed_length;
	/* Numbers of general registers. */
	uint8_t stack_pointer, frame_pointer;
	/* A call pushes its return address at the stack pointer, and a return pops it. */
	bool calls_push;
	/* Bytes below the stack pointer that belong to the function that runs. */
	uint16_t red_zone;
	/* Counts the iterations that are left of a repeated instruction, which can trap between two
	 * of them; -1: there are none such. */
	int8_t repeat_count;
	/* Registers of repeated moves and fills: from, to, and what memory is filled with. */
	uint8_t string_from, string_to, string_value;
	/* What a function is called with, the first ones, and what it returns. */
	uint8_t function_argument[INSN_FUNCTION_ARGUMENTS];
	uint8_t function_result, function_second_result;

	/* System calls: which registers hold the number, the arguments in their order and, behind
	 * it, the result; and which others the instruction destroys, a bit per number. */
	uint8_t call_number, call_result;
	uint8_t call_argument[INSN_SYSTEM_CALL_ARGUMENTS];
	uint32_t call_destroys;
	/* The instruction that enters the kernel. */
	uint8_t call_length;
	uint8_t call_code[4];
	/* Do the registers say that a thread at `pc` comes straight from it? */
	bool (*call_returned)(const uint64_t general[], uint64_t pc);
	/* The number that the `call_number_code` bytes in front of it load, or -1. */
	uint8_t call_number_code;
	int (*call_number_before)(const uint8_t *code);

	/* Where a jump relative to its own place leads that is `length` bytes long and stands at
	 * `at`; false: it is no such jump. Cheaper than decoding. */
	bool (*jump_target)(const uint8_t *bytes, unsigned length, uint64_t at, uint64_t *target);
	/* May an instruction that is repeated begin so? Cheaper than decoding. */
	bool (*begins_repeat)(const uint8_t *bytes, size_t length);
	/* Bytes of the mark at which indirect calls may arrive, or 0; `bytes` has 4. */
	unsigned (*landing_length)(const uint8_t *bytes);
};

#endif
