/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every frame of a short run: as a process begins, and each time that one of its threads comes to a
 * site, to a function's frame or to its end, what it comes to next is watched instead of what was.
 * Only with --all.
 */
#ifndef STACK_PLAN_H
#define STACK_PLAN_H

#include "stack/context.h"

/* The process waits at its very beginning. */
void plan_begin(struct stack *stack, struct process *process, uint64_t entry);
/* A thread has come to where `task` waited for one, and what follows is watched already. */
void plan_follow(struct stack *stack, struct process *process, const struct tl_access *access);

#endif
