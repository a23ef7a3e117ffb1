/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a held thread comes to next, as far as its registers and memory tell. Its instructions are
 * carried out on a copy of its registers (insn/forward.h), through all functions except the C
 * library's. A guess, which only chooses what is watched.
 */
#ifndef STACK_COURSE_H
#define STACK_COURSE_H

#include "stack/order.h"
#include "tool/registers.h"

/* Writes to `to` what the thread comes to, in that order, `max` at most, and returns how many.
 * Where a branch depends on what is not known, a place in front of the branch is among them: what
 * follows is a guess, and is looked at again when the thread is there. The last one is where the
 * thread returns to, by its frames' return addresses. `*given_up`: the counter that says why the
 * course was not followed to its end; NULL: it was. */
unsigned course_next(struct functions *functions, struct space *space,
		     const struct tl_registers *registers, const uint64_t *returns, unsigned count,
		     struct order_item *to, unsigned max, const char **given_up);

#endif
