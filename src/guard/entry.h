/* SPDX-License-Identifier: Apache-2.0 */
/* What every function that stands in an allocation function's place begins with. */
#ifndef GUARD_ENTRY_H
#define GUARD_ENTRY_H

#include "agent/arch.h"
#include "allocation/allocator.h"
#include "guard/choose.h"
#include "guard/guard.h"
#include "guard/own.h"

#include <stdatomic.h>

/* Called in a tail: its caller's frame is gone, and the program's function is the caller. */
#define RARE static __attribute__((noinline, cold))

/* `frame` begins with what the function's first instruction saves: the caller's frame pointer; next
 * to it is the return address. */
static inline struct allocation_caller caller_of(const uint64_t *frame)
{
	return (struct allocation_caller){
		.pc = frame[1], .stack_pointer = (uintptr_t)(frame + 2), .frame_pointer = frame[0]};
}

#define CALLER caller_of(__builtin_frame_address(0))
#define IS_DUE choose_is_due(__builtin_return_address(0))

/* May the block be a guarded one, or no block at all, so that it must be looked at before it goes
 * to the allocator? Nearly all are cleared by their address alone. */
static inline bool guard_is_suspect(const void *block)
{
	uintptr_t address = (uintptr_t)block, stack = agent_arch.stack_pointer() - OWN_STACK_BELOW;

	/* All at once: one branch, which is hardly ever taken. */
	unsigned suspect = atomic_load_explicit(&guard_filter[guard_filter_place(address)],
						memory_order_relaxed) != 0;

	suspect |= (address & own_suspected) != 0;
	suspect |= address - stack < own_stack_end - stack;
	suspect |= address - own_image < own_image_size;
	return __builtin_expect(suspect, 0);
}

/* entry.c. Makes a guarded block if it is chosen and can be made; else NULL. `wish` receives what
 * was chosen. */
void *guard_allocate(struct guard_wish *wish, struct allocation_caller caller);
/* Frees a block of which guard_is_suspect() is true. */
void guard_free(void *block, struct guard_end end, struct allocation_caller caller);

#endif
