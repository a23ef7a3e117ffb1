/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIGNAL_ARCH_H
#define SIGNAL_ARCH_H

#include "insn/arch.h"
#include "signal/hooks.h"

/* As the test lays registers down: unwind/arch.h. */
static inline uintptr_t fixed_pc(const ucontext_t *context)
{
	return ((const uint64_t *)(const void *)context->uc_link)[INSN_PC];
}

static inline uintptr_t fixed_stack(const ucontext_t *context)
{
	return ((const uint64_t *)(const void *)context->uc_link)[FIXED_STACK];
}

static inline void fixed_go_on_at(ucontext_t *context, uintptr_t pc)
{
	((uint64_t *)(void *)context->uc_link)[INSN_PC] = pc;
}

static inline bool fixed_begins_again(const ucontext_t *context)
{
	(void)context;
	return false;
}

static inline void fixed_end_call(ucontext_t *context)
{
	(void)context;
}

static const struct signal_hooks signal_arch = {
	.pc = fixed_pc,
	.stack = fixed_stack,
	.go_on_at = fixed_go_on_at,
	.begins_again = fixed_begins_again,
	.end_call = fixed_end_call,
};

#endif
