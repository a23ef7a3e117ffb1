/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading this process's own memory at addresses that may be wrong: through the kernel, which
 * answers with an error where we would fault. A window of the last place read makes one system
 * call serve several frames.
 */
#ifndef UNWIND_MEMORY_H
#define UNWIND_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

#define MEMORY_WINDOW 576 /* bytes; with the registers it fits a frame of 1024 */

struct memory {
	uint32_t length;
	uintptr_t first;
	uintptr_t plain_from, plain_until; /* known to be mapped, and read as it is */
	struct unwind_trail *trail;	   /* NULL: nobody asks */
	uint8_t window[MEMORY_WINDOW];
};

/* The window is left alone: only what `length` covers is read, and length is 0. */
static inline void memory_init(struct memory *memory)
{
	memory->length = 0;
	memory->first = 0;
	memory->plain_from = memory->plain_until = 0;
	memory->trail = NULL;
}

/* What decides the walk from here on cannot be told by words of the stack. */
static inline void memory_leave_trail(struct memory *memory)
{
	if (memory->trail)
		memory->trail->whole = false;
}

static inline void memory_add_to_trail(struct memory *memory, uint64_t address, uint64_t value)
{
	struct unwind_trail *trail = memory->trail;

	if (!trail || !trail->whole)
		return;
	trail->whole = trail->count < UNWIND_TRAIL;
	if (!trail->whole)
		return;
	trail->word[trail->count].address = address;
	trail->word[trail->count++].value = value;
}

/* All of it (at most 64 bytes) or -EFAULT. */
int memory_read(struct memory *memory, uintptr_t address, void *to, size_t length);

#endif
