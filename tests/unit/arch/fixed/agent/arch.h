/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_ARCH_H
#define AGENT_ARCH_H

#include "agent/hooks.h"

static inline void fixed_agent_registers(const ucontext_t *context, struct area_registers *to)
{
	const uint64_t *from = (const void *)context->uc_link;

	for (int i = 0; i < INSN_GENERAL; i++)
		to->general[i] = from[i];
	to->pc = from[INSN_PC];
	to->flags = 0;
}

static inline bool fixed_kept(const void *noted, struct area_registers *to)
{
	(void)noted;
	(void)to;
	return false;
}

static inline uint64_t fixed_pointer_by_instruction(void)
{
	return 0;
}

static inline uintptr_t fixed_pointer(void)
{
	return (uintptr_t)__builtin_frame_address(0);
}

static inline bool fixed_no(void)
{
	return false;
}

static inline void fixed_copy(void *to, const void *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		((char *)to)[i] = ((const char *)from)[i];
}

static inline void fixed_fill(void *to, int byte, size_t length)
{
	for (size_t i = 0; i < length; i++)
		((char *)to)[i] = (char)byte;
}

static const struct agent_hooks agent_arch = {
	.machine = 0x7777,
	.audit = 0x7777,
	.registers = fixed_agent_registers,
	.kept = fixed_kept,
	.pointer_by_instruction = fixed_pointer_by_instruction,
	.has_instruction = fixed_no,
	.thread_pointer = fixed_pointer,
	.stack_pointer = fixed_pointer,
	.may_read_clock = fixed_no,
	.copy = fixed_copy,
	.fill = fixed_fill,
};

/* The compiler's own assembly is another machine's. */
#define AGENT_ENTRY(name, before) _Static_assert(1, #name " by " #before)
#define AGENT_ENTRY_OF_SIX(name, before) _Static_assert(1, #name " by " #before)
#define AGENT_ENTRY_KEPT(name, body) _Static_assert(1, #name " by " #body)
#define AGENT_ENTRY_BEGIN(name, begin) _Static_assert(1, #name " by " #begin)
#define AGENT_RESTORER(name) _Static_assert(1, #name)

#endif
