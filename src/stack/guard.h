/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overwritten slots. A thread is met at the end of a function's prologue, and a slot of its frame
 * gets a write watch in that thread: the return address, the lowest saved register, or the canary,
 * none of which anybody is to write until the function returns.
 */
#ifndef STACK_GUARD_H
#define STACK_GUARD_H

#include "stack/context.h"

/* Asks about the next frame of this function. False: the watch could not be armed. */
bool guard_begin_at(struct stack *stack, struct process *process, struct victim *victim);
/* The same for the function that has waited longest; false also where none is due. */
bool guard_begin(struct stack *stack, struct process *process, uint64_t now);
/* A watch of this task was hit. */
void guard_hit(struct stack *stack, struct task *task, enum stage stage,
	       const struct tl_access *access);
/* A watch of this task has ended by itself. */
void guard_over(struct stack *stack, struct task *task, enum stage stage);

#endif
