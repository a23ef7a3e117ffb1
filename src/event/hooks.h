/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What src/event and those above it know of an architecture's breakpoints, and of the registers in
 * the kernel's samples (insn/hooks.h has how one is chosen). "event/arch.h" has
 *   EVENT_SLOTS              hardware slots a thread has for watching data
 *   EVENT_SAMPLED_REGISTERS  how many registers a sample of ours has
 *   event_arch               the struct below
 */
#ifndef EVENT_HOOKS_H
#define EVENT_HOOKS_H

#include "insn/insn.h"

struct event_hooks {
	/* The length that the kernel wants of an execution breakpoint. */
	uint8_t code_length;
	/* A slot can trip on reads alone; else it trips on writes too. */
	bool reads_alone;
	/* Which registers a sample has (sample_regs_user, asm/perf_regs.h), and from their order to
	 * src/insn's: general ones, pc and flags. */
	uint64_t sampled;
	void (*registers)(const uint64_t from[], struct insn_registers *to);
	/* Of an interrupted thread of this process. */
	uint64_t (*pc)(const void *context);
	/* The processor has protection keys, and the kernel has switched them on. */
	bool (*has_protection_keys)(void);
};

#endif
