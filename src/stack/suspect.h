/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples whose access is of a frame that is gone, by their registers. A sample has no stack, and
 * its thread goes on: the instruction is watched, and who comes by is judged.
 */
#ifndef STACK_SUSPECT_H
#define STACK_SUSPECT_H

#include "stack/context.h"

void suspect_sample(struct stack *stack, struct process *process, const struct tl_access *access);
/* Watches an instruction that a sample made suspect. False: there is none. */
/* An instruction that has used what may be a frame that is gone, and overwrote the registers that
 * its address was made of: it is looked at before it does so again. */
void suspect_note(struct stack *stack, struct process *process, uint64_t pc);
bool suspect_begin(struct stack *stack, struct process *process);
void suspect_hit(struct stack *stack, struct task *task, const struct tl_access *access);
void suspect_over(struct stack *stack, struct task *task);

#endif
