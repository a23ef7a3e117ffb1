/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNWIND_ARCH_H
#define UNWIND_ARCH_H

#include "unwind/hooks.h"

enum unwind_register {
	UNWIND_KEPT = 4,
	UNWIND_FP,
	UNWIND_SP,
	UNWIND_LINK,
	UNWIND_PC,
	UNWIND_REGISTER_COUNT
};

#define UNWIND_ROW_REGISTERS 3
#define UNWIND_ROW_ORDER UNWIND_KEPT, UNWIND_FP, UNWIND_LINK

/* As the test lays them down where a context would link to another. */
static inline void fixed_unwind_registers(const ucontext_t *context, uint64_t value[])
{
	for (int i = 0; i < UNWIND_REGISTER_COUNT; i++)
		value[i] = ((const uint64_t *)(const void *)context->uc_link)[i];
}

static inline bool fixed_ends_with_call(const uint8_t *before)
{
	return before[0] == 7; /* FIXED_CALL */
}

static inline void fixed_unwind_here(uint64_t value[])
{
	for (int i = 0; i < UNWIND_REGISTER_COUNT; i++)
		value[i] = 0;
}

static const uint8_t fixed_unwind_encoded[8] = {[4] = UNWIND_KEPT, [5] = UNWIND_FP};

static const struct unwind_hooks unwind_arch = {
	.kept = 1u << UNWIND_KEPT | 1u << UNWIND_FP | 1u << UNWIND_LINK,
	.registers = fixed_unwind_registers,
	.here = fixed_unwind_here,
	.encoded = fixed_unwind_encoded,
	.call_window = 4,
	.ends_with_call = fixed_ends_with_call,
	.calls_push = false,
	.link = UNWIND_LINK,
	.frame_words = 2,
};

#endif
