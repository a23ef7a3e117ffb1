/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What still leads to a frame that has just ended. A thread is held as it returns from the frame,
 * or where it has landed after an exception or a longjmp(); what lies below its stack pointer is
 * gone. An address of that may be the function's result, or stand in memory, whoever stored it.
 */
#ifndef STACK_LEAVE_H
#define STACK_LEAVE_H

#include "stack/context.h"

/* What is gone: [start, end). False: that is not known, or the frames do not lead to where the
 * thread's own stack begins. */
struct leave_gone {
	uint64_t start, end;
};
bool leave_gone(struct stack *stack, const struct task *task, const struct tl_access *access,
		struct leave_gone *gone);

/* Looks at the mappings again where threads have begun: of their stacks, which may hold the address
 * they were handed, nothing is known yet. */
void leave_renew(struct process *process, struct space *space);

/* Is a use of what is gone foretold, through the result of the function that returns? Then
 * task->use has it. */
bool leave_result(struct stack *stack, struct task *task, const struct tl_access *access,
		  const struct leave_gone *gone);

/* Does a word of memory hold an address of what is gone? Then task->holder is that word and
 * task->address what it holds; of several words the one that was tried least. */
bool leave_holder(struct stack *stack, struct task *task, const struct tl_access *access,
		  const struct leave_gone *gone);
/* How many ns to wait for a load of that word, by how often that was in vain. */
uint64_t leave_window(const struct task *task);

#endif
