/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use after return, in stages. A thread is met at a site, where the address of a local leaves its
 * frame. Then the frame's return is waited for. If a word of memory still holds the address then,
 * the address dangles: the word is watched, and a thread that loads the address from there is
 * watched as it uses it.
 */
#ifndef STACK_USE_H
#define STACK_USE_H

#include "stack/context.h"

/* Watches this site. False: it could not be armed. */
bool use_begin_at(struct stack *stack, struct process *process, struct site *site);
/* The same for the site that has waited longest; false also where none is due. */
bool use_begin(struct stack *stack, struct process *process, uint64_t now);
/* A hit of a watch of this task. */
void use_hit(struct stack *stack, struct task *task, enum stage stage,
	     const struct tl_access *access);
/* A watch of this task ended by itself. */
void use_over(struct stack *stack, struct task *task, enum stage stage);
/* Now and then: ends the task where its thread has ended or it takes too long. */
void use_tick(struct stack *stack, struct task *task, uint64_t now);

#endif
