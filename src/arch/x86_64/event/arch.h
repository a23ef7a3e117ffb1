/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64's event/hooks.h. */
#ifndef EVENT_ARCH_H
#define EVENT_ARCH_H

#include "event/hooks.h"

#include <asm/perf_regs.h>
#include <cpuid.h>
#include <ucontext.h>

#define EVENT_SLOTS 4
/* ax bx cx dx si di bp sp ip flags, r8 … r15. */
#define EVENT_SAMPLED_REGISTERS 18

static inline void x86_sampled_registers(const uint64_t from[], struct insn_registers *to)
{
	static const uint8_t order[8] = {X86_RAX, X86_RBX, X86_RCX, X86_RDX,
					 X86_RSI, X86_RDI, X86_RBP, X86_RSP};

	for (int i = 0; i < 8; i++) {
		to->general[order[i]] = from[i];
		to->general[8 + i] = from[10 + i];
	}
	to->pc = from[8];
	to->flags = from[9];
}

static inline uint64_t x86_interrupted_pc(const void *context)
{
	return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

/* CPUID leaf 7, ECX bit 4 (OSPKE). Intel SDM, volume 2A. */
static inline bool x86_has_protection_keys(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ecx & (1u << 4));
}

static const struct event_hooks event_arch = {
	.code_length = sizeof(long),
	.sampled = 0x3ffull | 0xffull << PERF_REG_X86_R8,
	.registers = x86_sampled_registers,
	.pc = x86_interrupted_pc,
	.has_protection_keys = x86_has_protection_keys,
};

#endif
