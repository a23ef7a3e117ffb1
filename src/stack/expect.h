/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A foretold use is waited for at its instruction, in its thread. A watch on the memory would not
 * do: that memory lies below the stack pointer, where the kernel puts the frame of each hit's
 * signal, and as the handler returns the kernel reads that frame, which would be the next hit,
 * without end.
 */
#ifndef STACK_EXPECT_H
#define STACK_EXPECT_H

#include "stack/context.h"

/* Watches for task->use in thread `tid`. False: it cannot be armed, or the use has to be watched at
 * its memory, since a mask or the contents of memory choose what the instruction touches. */
bool expect_begin(struct stack *stack, struct task *task, pid_t tid);

/* Is this hit of the watch of expect_begin() the use, which the thread is about to make? Then
 * `about` receives that access. True once at most: the instruction may come again in a loop or
 * another call, of which nothing was foretold. */
bool expect_hit(struct stack *stack, struct task *task, const struct tl_access *access,
		struct tl_access *about);

/* The same for a hit at the memory. An instruction that overwrites the register of its own address
 * does not tell what it touched; where it was the foretold one, that it would come and what it
 * would touch are known, and go into `access`. */
bool expect_touched(struct task *task, struct tl_access *access);

#endif
