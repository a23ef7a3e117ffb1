/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A use that was foretold is waited for at its instruction, in its thread, and not at its memory:
 * that lies below the stack pointer, where the frame of each hit's own signal comes to lie. What
 * the kernel reads of it as the handler returns would be the next hit, for ever.
 */
#ifndef STACK_EXPECT_H
#define STACK_EXPECT_H

#include "stack/context.h"

/* Watches for task->use in thread `tid`. False: it cannot be, or not so: an instruction of which a
 * mask or memory chooses what it touches is to be watched at its memory. */
bool expect_begin(struct stack *stack, struct task *task, pid_t tid);

/* Is the hit of what expect_begin() watches the use, which the thread is about to make? Once: the
 * instruction comes again in loops and in other calls, of which nothing is known. `*about`: of it.
 */
bool expect_hit(struct stack *stack, struct task *task, const struct tl_access *access,
		struct tl_access *about);

/* The same of a hit at its memory: an instruction that overwrites the register its address is made
 * of does not tell by itself what it touched; that it would come, and where it would go, was
 * foretold. */
bool expect_touched(struct task *task, struct tl_access *access);

#endif
