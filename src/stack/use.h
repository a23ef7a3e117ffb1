/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use after return. An address of a local is seen leaving its frame (a site); the frame is seen
 * returning; if some memory still has the address then, it is dangling, and whoever loads it from
 * there is watched as it uses it.
 */
#ifndef STACK_USE_H
#define STACK_USE_H

#include "stack/context.h"

bool use_begin_at(struct stack *stack, struct process *process, struct site *site);
/* Watches the site that has waited longest. False: there is none, or it could not be armed. */
bool use_begin(struct stack *stack, struct process *process, uint64_t now);
/* A hit of a watch of this task. */
void use_hit(struct stack *stack, struct task *task, enum stage stage,
	     const struct tl_access *access);
/* A watch of this task ended by itself. */
void use_over(struct stack *stack, struct task *task, enum stage stage);
/* Now and then: threads that ended, questions that took too long. */
void use_tick(struct stack *stack, struct task *task, uint64_t now);

#endif
