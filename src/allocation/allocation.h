/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the heap's blocks are remembered, and what of them: record/allocation.h. */
#ifndef ALLOCATION_ALLOCATION_H
#define ALLOCATION_ALLOCATION_H

#include "record/allocation.h"
#include "record/area.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

extern struct allocation_table allocation_table;

/* What this thread may still allocate before one is looked at, as allocation_is_due() counts it;
 * negative: look at this one. */
extern __thread int64_t allocation_left __attribute__((tls_model("initial-exec")));

/* `size` bytes are being allocated: is the block to be shown to allocation_consider()? */
static inline bool allocation_is_due(size_t size)
{
	return __builtin_expect((allocation_left -= (int64_t)(size / 2 + 8)) < 0, 0);
}

static inline bool allocation_is_known(const void *block)
{
	const struct allocation_entry *entry =
		&allocation_table.entry[allocation_place((uintptr_t)block)];

	return __builtin_expect(atomic_load_explicit(&entry->block, memory_order_relaxed) ==
					(uintptr_t)block,
				0) &&
	       block;
}

/* Where the program called one of libc's functions. By value: it outlives the callee's frame. */
struct allocation_caller {
	uint64_t pc; /* the return address */
	uint64_t stack_pointer, frame_pointer;
};

/* Fills the event in, at `now` (agent_now()). Async-signal-safe, as the next three. */
void allocation_note_event(struct allocation_event *event, const struct allocation_caller *caller,
			   uint64_t now);

/* `fresh`: nobody has written to it, calloc() neither. */
void allocation_consider(void *block, size_t size, bool fresh, struct allocation_caller caller);

/* A block that is known is about to be given back. */
void allocation_release(void *block, struct allocation_caller caller);

/* Is the controller to know when this block is freed? `process`: NULL, where there is none yet. */
bool allocation_is_kept(const struct area_process *process, uint64_t block);

/* It has not been given back after all: its size was changed where it is. What is remembered was of
 * the block before. */
void allocation_forget_release(const void *block);

#endif
