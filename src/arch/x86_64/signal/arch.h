/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64's signal/hooks.h. */
#ifndef SIGNAL_ARCH_H
#define SIGNAL_ARCH_H

#include "signal/hooks.h"
#include "signal/restart.h"

#define X86_RESUME_FLAG \
	0x10000 /* EFLAGS.RF: the next instruction does not trap on its breakpoint */

static inline uintptr_t x86_pc(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t x86_stack(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

/* The frame carries RF so that returning to a breakpoint makes progress; elsewhere it would hide
 * the breakpoint of the instruction resumed at. */
static inline void x86_go_on_at(ucontext_t *context, uintptr_t pc)
{
	greg_t *registers = context->uc_mcontext.gregs;

	if ((uintptr_t)registers[REG_RIP] != pc)
		registers[REG_EFL] &= ~(greg_t)X86_RESUME_FLAG;
	registers[REG_RIP] = (greg_t)pc;
}

static const struct signal_hooks signal_arch = {
	.pc = x86_pc,
	.stack = x86_stack,
	.go_on_at = x86_go_on_at,
	.begins_again = x86_begins_again,
	.end_call = x86_end_call,
};

#endif
