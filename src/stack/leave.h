/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread is held as it returns from a frame, or where it has landed after an exception or a
 * longjmp(): what lies below its stack pointer is gone. What still has addresses in it, whoever
 * stored them: its result, and memory.
 */
#ifndef STACK_LEAVE_H
#define STACK_LEAVE_H

#include "stack/context.h"

/* What is gone: [start, end). False: it is not known, or not on a stack that begins where its
 * thread does. */
struct leave_gone {
	uint64_t start, end;
};
bool leave_gone(struct stack *stack, const struct task *task, const struct tl_access *access,
		struct leave_gone *gone);

/* A thread that has begun since has a stack of which nothing is known yet, and its argument there.
 */
void leave_renew(struct process *process, struct space *space);

/* A use of what is gone through the result of the function that returns, if one is foretold: in
 * task->use. */
bool leave_result(struct stack *stack, struct task *task, const struct tl_access *access,
		  const struct leave_gone *gone);

/* A word of memory that has an address of what is gone, if there is one: in task->holder, with the
 * address in task->address. Of several that which was tried least. */
bool leave_holder(struct stack *stack, struct task *task, const struct tl_access *access,
		  const struct leave_gone *gone);
/* How long to wait for who loads it, by how often that was in vain. */
uint64_t leave_window(const struct task *task);

#endif
