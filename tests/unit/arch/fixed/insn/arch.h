/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An architecture that there is not, for tests/unit/arch/fixed.c: as unlike x86-64 as one that is
 * real may be. Instructions are four bytes, data watchpoints trap before the access, a call leaves
 * its return address in a register, there are eight registers and two slots.
 *
 *	byte 0 operation, byte 1 register a, byte 2 register b, byte 3 signed number n
 */
#ifndef INSN_ARCH_H
#define INSN_ARCH_H

#include "insn/hooks.h"

#define INSN_MAX_LENGTH 4
#define INSN_GENERAL 8
#define INSN_PC 8
#define INSN_KEPT_BY_CALLS (1u << FIXED_KEPT | 1u << FIXED_FRAME | 1u << FIXED_STACK)

enum {
	FIXED_RESULT, /* and the first argument */
	FIXED_SECOND,
	FIXED_THIRD,
	FIXED_NUMBER, /* of a system call */
	FIXED_KEPT,
	FIXED_FRAME,
	FIXED_STACK,
	FIXED_LINK,
};

enum fixed_operation {
	FIXED_NOTHING,
	FIXED_LOAD,	/* a = [b + n] */
	FIXED_STORE,	/* [b + n] = a */
	FIXED_EXCHANGE, /* a and [b + n], atomically */
	FIXED_ADD,	/* a = b + n */
	FIXED_BRANCH,	/* n instructions on, from its own place */
	FIXED_IF_ZERO,	/* the same where the flags say so */
	FIXED_CALL,	/* the same, with the return address in FIXED_LINK */
	FIXED_JUMP,	/* to what a holds */
	FIXED_RETURN,	/* to what FIXED_LINK holds */
	FIXED_KERNEL,
	FIXED_OPERATIONS
};

static inline bool fixed_call_returned(const uint64_t general[], uint64_t pc)
{
	return general && pc;
}

/* number = 0 + n */
static inline int fixed_call_number_before(const uint8_t *code)
{
	return code[0] == FIXED_ADD && code[1] == FIXED_NUMBER ? (int8_t)code[3] : -1;
}

static inline bool fixed_jump_target(const uint8_t *bytes, unsigned length, uint64_t at,
				     uint64_t *target)
{
	if (length != 4 || (bytes[0] != FIXED_BRANCH && bytes[0] != FIXED_IF_ZERO))
		return false;
	*target = at + 4 * (uint64_t)(int64_t)(int8_t)bytes[3];
	return true;
}

static inline bool fixed_begins_repeat(const uint8_t *bytes, size_t length)
{
	return !bytes && !length;
}

static inline unsigned fixed_landing_length(const uint8_t *bytes)
{
	return bytes ? 0 : 1;
}

static const struct insn_hooks insn_arch = {
	.traps_after = false,
	.fixed_length = 4,
	.stack_pointer = FIXED_STACK,
	.frame_pointer = FIXED_FRAME,
	.calls_push = false,
	.repeat_count = -1,
	.function_argument = {FIXED_RESULT, FIXED_SECOND, FIXED_THIRD, FIXED_NUMBER},
	.function_result = FIXED_RESULT,
	.call_number = FIXED_NUMBER,
	.call_result = FIXED_RESULT,
	.call_argument = {FIXED_RESULT, FIXED_SECOND, FIXED_THIRD},
	.call_length = 4,
	.call_code = {FIXED_KERNEL},
	.call_returned = fixed_call_returned,
	.call_number_code = 4,
	.call_number_before = fixed_call_number_before,
	.jump_target = fixed_jump_target,
	.begins_repeat = fixed_begins_repeat,
	.landing_length = fixed_landing_length,
};

#endif
