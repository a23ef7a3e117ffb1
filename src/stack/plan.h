/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every frame of a short run (--all). As a process begins, and each time that one of its threads
 * comes to a site, to a function with a frame to guard or to that frame's end, the waiting watches
 * are replaced by such on what that thread comes to next.
 */
#ifndef STACK_PLAN_H
#define STACK_PLAN_H

#include "stack/context.h"

/* A process waits at its very beginning: watches what it comes to first. */
void plan_begin(struct stack *stack, struct process *process, uint64_t entry);
/* A thread has come to a place where a task waited for it, and what that task does next is watched
 * already. */
void plan_follow(struct stack *stack, struct process *process, const struct tl_access *access);

#endif
