/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one place of a breakpoint event to another, by steps.
 *
 * The kernel changes an event's attributes one by one, and a thread that inherits the event copies
 * them without waiting for that: clone(2) holds the mutex of the creator's own context, not of the
 * one where the event was opened (kernel/events/core.c: inherit_event(); hw_breakpoint.c:
 * modify_user_hw_breakpoint_check(), seen on 6.18; tests/kernel/torn.c). Where that mixture
 * is no valid breakpoint, an address of one place with a longer length of the other, clone(2) fails
 * with EINVAL in the program. So each step is such that every mixture of it with the one before is
 * valid.
 *
 * Pure functions.
 */
#ifndef EVENT_RELOCATION_H
#define EVENT_RELOCATION_H

#include <stdint.h>

struct relocation_place {
	uintptr_t addr;
	unsigned length;
	unsigned access; /* TL_READ, TL_WRITE, TL_EXEC */
};

#define RELOCATION_STEPS 3

/* The places between the two, in order, without either; returns how many. `code_length`: what the
 * kernel wants an execution breakpoint to have, a power of 2. */
unsigned relocation_steps(const struct relocation_place *from, const struct relocation_place *to,
			  unsigned code_length, struct relocation_place step[RELOCATION_STEPS]);

#endif
