/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a held thread comes to next, as far as its registers and memory tell: its instructions are
 * carried out on a copy of them (insn/forward.h), through all functions but the C library's. It
 * only chooses what is waited for.
 */
#ifndef STACK_COURSE_H
#define STACK_COURSE_H

#include "stack/order.h"
#include "tool/registers.h"

/* In the order that it comes to them, at most `max`. Where a branch depends on what is not known, a
 * place in front of it is among them: what lies behind was guessed, and is known once the thread is
 * there. The last one is where it returns to, by its frames' return addresses. How many.
 * `*given_up`: the counter of why the course was not followed to where it ends; or NULL. */
unsigned course_next(struct functions *functions, struct space *space,
		     const struct tl_registers *registers, const uint64_t *returns, unsigned count,
		     struct order_item *to, unsigned max, const char **given_up);

#endif
