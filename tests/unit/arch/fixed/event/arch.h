/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EVENT_ARCH_H
#define EVENT_ARCH_H

#include "event/hooks.h"

#define EVENT_SLOTS 2
#define EVENT_SAMPLED_REGISTERS 9

static inline void fixed_sampled_registers(const uint64_t from[], struct insn_registers *to)
{
	for (int i = 0; i < INSN_GENERAL; i++)
		to->general[i] = from[1 + i];
	to->pc = from[0];
}

static inline uint64_t fixed_interrupted_pc(const void *context)
{
	return context != NULL;
}

static inline bool fixed_has_protection_keys(void)
{
	return false;
}

static const struct event_hooks event_arch = {
	.code_length = 4,
	.reads_alone = true,
	.sampled = 0x1ff,
	.registers = fixed_sampled_registers,
	.pc = fixed_interrupted_pc,
	.has_protection_keys = fixed_has_protection_keys,
};

#endif
