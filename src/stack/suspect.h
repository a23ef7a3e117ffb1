/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples that seem to access a frame that is gone, by their registers. A sample has no stack and
 * its thread goes on, so nothing is told of it: its instruction is watched, and the next thread
 * that comes there is judged.
 */
#ifndef STACK_SUSPECT_H
#define STACK_SUSPECT_H

#include "stack/context.h"

void suspect_sample(struct stack *stack, struct process *process, const struct tl_access *access);
/* Makes an instruction suspect that seems to have used a frame that is gone, and overwrote the
 * registers of its address: it is to be met before it does so again. */
void suspect_note(struct stack *stack, struct process *process, uint64_t pc);
/* Watches an instruction that is suspect. False: there is none, or it could not be armed. */
bool suspect_begin(struct stack *stack, struct process *process);
void suspect_hit(struct stack *stack, struct task *task, const struct tl_access *access);
void suspect_over(struct stack *stack, struct task *task);

#endif
