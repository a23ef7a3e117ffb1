/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64's insn/hooks.h. General registers are numbered as instructions encode them: rax rcx rdx
 * rbx rsp rbp rsi rdi r8 … r15. */
#ifndef INSN_ARCH_H
#define INSN_ARCH_H

#include "insn/hooks.h"

#include <string.h>

#define INSN_MAX_LENGTH 15
#define INSN_GENERAL 16
#define INSN_PC 16
/* rbx, rsp, rbp, r12 … r15 (System V ABI). */
#define INSN_KEPT_BY_CALLS 0xf038u

enum {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_R8,
	X86_R9,
	X86_R10,
	X86_R11,
};

/* `syscall` leaves the return address in rcx: then the trap behind it cannot have another cause,
 * whatever else leads to this place. */
static inline bool x86_call_returned(const uint64_t general[], uint64_t pc)
{
	return general[X86_RCX] == pc;
}

/* A REX prefix that makes r8 of eax (R and B). */
static inline bool x86_extends_register(uint8_t byte)
{
	return (byte & 0xf0) == 0x40 && (byte & 5);
}

/* `mov $n,%eax` or, for 0, `xor %eax,%eax`; not those of r8, which the sixth byte tells. What
 * stands there may be another instruction's end: then the number is not known. */
static inline int x86_call_number_before(const uint8_t *code)
{
	int number;

	if (code[1] == 0xb8 && !x86_extends_register(code[0])) {
		memcpy(&number, code + 2, sizeof(number));
		return number;
	}
	return code[4] == 0x31 && code[5] == 0xc0 && !x86_extends_register(code[3]) ? 0 : -1;
}

/* The offset is the last thing in it. */
static inline bool x86_jump_target(const uint8_t *bytes, unsigned length, uint64_t at,
				   uint64_t *target)
{
	unsigned i = 0;
	int32_t offset;

	while (i + 1 < length && (bytes[i] == 0x2e || bytes[i] == 0x3e || bytes[i] == 0xf2 ||
				  bytes[i] == 0x66 || (bytes[i] & 0xf0) == 0x40))
		i++;
	if ((bytes[i] & 0xf0) == 0x70 || bytes[i] == 0xeb || (bytes[i] & 0xfc) == 0xe0) {
		*target = at + length + (uint64_t)(int64_t)(int8_t)bytes[length - 1];
		return true;
	}
	if (length < 5 ||
	    !(bytes[i] == 0xe9 || (bytes[i] == 0x0f && (bytes[i + 1] & 0xf0) == 0x80)))
		return false;
	memcpy(&offset, bytes + length - sizeof(offset), sizeof(offset));
	*target = at + length + (uint64_t)(int64_t)offset;
	return true;
}

/* A string instruction with a rep prefix. */
static inline bool x86_begins_repeat(const uint8_t *bytes, size_t length)
{
	bool repeat = false;

	for (size_t i = 0; i < length; i++) {
		uint8_t byte = bytes[i];

		if (byte == 0xf2 || byte == 0xf3)
			repeat = true;
		else if ((byte >= 0xa4 && byte <= 0xa7) || (byte >= 0xaa && byte <= 0xaf) ||
			 (byte >= 0x6c && byte <= 0x6f))
			return repeat;
		else if (byte != 0x66 && byte != 0x67 && byte != 0x64 && byte != 0x65 &&
			 byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0x26 &&
			 (byte & 0xf0) != 0x40)
			return false;
	}
	return false;
}

/* endbr64 */
static inline unsigned x86_landing_length(const uint8_t *bytes)
{
	return bytes[0] == 0xf3 && bytes[1] == 0x0f && bytes[2] == 0x1e && bytes[3] == 0xfa ? 4 : 0;
}

static const struct insn_hooks insn_arch = {
	.traps_after = true,
	.stack_pointer = X86_RSP,
	.frame_pointer = X86_RBP,
	.calls_push = true,
	.red_zone = 128,
	.repeat_count = X86_RCX,
	.string_from = X86_RSI,
	.string_to = X86_RDI,
	.string_value = X86_RAX,
	.function_argument = {X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R9},
	.function_result = X86_RAX,
	.function_second_result = X86_RDX,
	.call_number = X86_RAX,
	.call_result = X86_RAX,
	.call_argument = {X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9},
	.call_destroys = 1u << X86_RCX | 1u << X86_R11,
	.call_length = 2,
	.call_code = {0x0f, 0x05},
	.call_returned = x86_call_returned,
	.call_number_code = 6,
	.call_number_before = x86_call_number_before,
	.jump_target = x86_jump_target,
	.begins_repeat = x86_begins_repeat,
	.landing_length = x86_landing_length,
};

#endif
