/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64's unwind/hooks.h: System V ABI, figure 3.36. */
#ifndef UNWIND_ARCH_H
#define UNWIND_ARCH_H

#include "unwind/hooks.h"

enum unwind_register {
	UNWIND_RAX,
	UNWIND_RDX,
	UNWIND_RCX,
	UNWIND_RBX,
	UNWIND_RSI,
	UNWIND_RDI,
	UNWIND_FP, /* rbp */
	UNWIND_SP, /* rsp */
	UNWIND_R8,
	UNWIND_R12 = 12,
	UNWIND_R13,
	UNWIND_R14,
	UNWIND_R15,
	UNWIND_PC,
	UNWIND_REGISTER_COUNT
};

#define UNWIND_ROW_REGISTERS 7
#define UNWIND_ROW_ORDER \
	UNWIND_RBX, UNWIND_FP, UNWIND_R12, UNWIND_R13, UNWIND_R14, UNWIND_R15, UNWIND_PC

static inline void x86_unwind_registers(const ucontext_t *context, uint64_t value[])
{
	static const uint8_t from[UNWIND_REGISTER_COUNT] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,	 REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};

	for (unsigned i = 0; i < UNWIND_REGISTER_COUNT; i++)
		value[i] = (uint64_t)context->uc_mcontext.gregs[from[i]];
}

/* The instruction that takes the pc is in the function whose registers these are. */
static inline void x86_unwind_here(uint64_t value[])
{
	__asm__ volatile(
		"mov %%rbx, %c[rbx](%[to])\n\t"
		"mov %%rbp, %c[rbp](%[to])\n\t"
		"mov %%rsp, %c[rsp](%[to])\n\t"
		"mov %%r12, %c[r12](%[to])\n\t"
		"mov %%r13, %c[r13](%[to])\n\t"
		"mov %%r14, %c[r14](%[to])\n\t"
		"mov %%r15, %c[r15](%[to])\n\t"
		"lea 0(%%rip), %%rax\n\t"
		"mov %%rax, %c[pc](%[to])"
		:
		: [to] "r"(value), [rbx] "i"(UNWIND_RBX * 8), [rbp] "i"(UNWIND_FP * 8),
		  [rsp] "i"(UNWIND_SP * 8), [r12] "i"(UNWIND_R12 * 8), [r13] "i"(UNWIND_R13 * 8),
		  [r14] "i"(UNWIND_R14 * 8), [r15] "i"(UNWIND_R15 * 8), [pc] "i"(UNWIND_PC * 8)
		: "rax", "memory");
}

static const uint8_t x86_unwind_encoded[] = {
	0, 0, 0, UNWIND_RBX, 0,		 UNWIND_FP,  0,		 0,
	0, 0, 0, 0,	     UNWIND_R12, UNWIND_R13, UNWIND_R14, UNWIND_R15,
};

#define X86_CALL_WINDOW 7u

static inline bool x86_ends_with_call(const uint8_t *before)
{
	if (before[2] == 0xe8) /* call rel32 */
		return true;
	/* call r/m64 is ff /2 with up to five bytes after its ModRM byte. */
	for (unsigned length = 2; length <= X86_CALL_WINDOW; length++) {
		const uint8_t *bytes = before + X86_CALL_WINDOW - length;

		if (length != 5 && bytes[0] == 0xff && (bytes[1] & 0x38) == 0x10)
			return true;
	}
	return false;
}

static const struct unwind_hooks unwind_arch = {
	.kept = 1u << UNWIND_RBX | 1u << UNWIND_FP | 1u << UNWIND_R12 | 1u << UNWIND_R13 |
		1u << UNWIND_R14 | 1u << UNWIND_R15,
	.red_zone = 128,
	.registers = x86_unwind_registers,
	.here = x86_unwind_here,
	.encoded = x86_unwind_encoded,
	.call_window = X86_CALL_WINDOW,
	.ends_with_call = x86_ends_with_call,
	.calls_push = true,
	.frame_words = 2,
};

#endif
