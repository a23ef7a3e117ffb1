/* SPDX-License-Identifier: Apache-2.0 */
/* insn_attribute() for this process: memory and function bounds of its own, with a cache. */
#ifndef TRAP_ATTRIBUTION_H
#define TRAP_ATTRIBUTION_H

#include "insn/insn.h"

#include <ucontext.h>

/* Which instruction touched [watched, watched + length)? Async-signal-safe. */
void attribution_find(const ucontext_t *context, uintptr_t watched, size_t length, unsigned wanted,
		      struct insn_access *access);

/* Does the attributed instruction also touch [first, first + length)? Returns TL_READ | TL_WRITE
 * bits of what it does there; 0 if not, or if that cannot be known. */
unsigned attribution_also_touches(const ucontext_t *context, const struct insn_access *access,
				  uintptr_t first, size_t length);

#endif
