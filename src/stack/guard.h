/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overwritten slots. Behind a function's prologue a slot of its frame that nobody is to write until
 * it returns takes a write watch in that thread: the return address, the lowest register saved, or
 * the canary.
 */
#ifndef STACK_GUARD_H
#define STACK_GUARD_H

#include "stack/context.h"

bool guard_begin_at(struct stack *stack, struct process *process, struct victim *victim);
/* At the function that has waited longest. False: there is none, or it could not be armed. */
bool guard_begin(struct stack *stack, struct process *process, uint64_t now);
void guard_hit(struct stack *stack, struct task *task, enum stage stage,
	       const struct tl_access *access);
void guard_over(struct stack *stack, struct task *task, enum stage stage);

#endif
