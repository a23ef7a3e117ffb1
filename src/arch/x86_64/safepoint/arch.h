/* SPDX-License-Identifier: Apache-2.0 */
/* What entry.c leaves on the stack of a thread that stops, and the registers it had by that. */
#ifndef SAFEPOINT_ARCH_H
#define SAFEPOINT_ARCH_H

#include <stdint.h>
#include <ucontext.h>

struct safepoint_saved {
	uint64_t r15, r14, r13, r12, rbp, rbx, return_address;
};

/* As far as a call preserves them. */
static inline void safepoint_capture(ucontext_t *context, const struct safepoint_saved *saved)
{
	greg_t *registers = context->uc_mcontext.gregs;

	registers[REG_R15] = (greg_t)saved->r15;
	registers[REG_R14] = (greg_t)saved->r14;
	registers[REG_R13] = (greg_t)saved->r13;
	registers[REG_R12] = (greg_t)saved->r12;
	registers[REG_RBP] = (greg_t)saved->rbp;
	registers[REG_RBX] = (greg_t)saved->rbx;
	registers[REG_RIP] = (greg_t)saved->return_address;
	registers[REG_RSP] = (greg_t)(uintptr_t)(saved + 1);
}

#endif
