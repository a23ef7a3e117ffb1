/* SPDX-License-Identifier: Apache-2.0 */
/* What a function or a system call was called with, told from outside while a thread stands in it.
 * A guess by nature where a register or the stack may have been reused: what is not certain is left
 * out. */
#ifndef HIT_ARGUMENTS_H
#define HIT_ARGUMENTS_H

#include "hit/stack.h"
#include "insn/insn.h"
#include "libc/c_function.h"
#include "process/space.h"

/* A thread in a function, with its registers there. */
struct arguments_place {
	struct space *space;
	pid_t pid;
	uint64_t start, end; /* of the function */
	const struct insn_registers *registers;
};

/* Finds as many of the call's arguments as can be told. `stack`: NULL where none was noted. */
void arguments_recover(const struct arguments_place *place, const struct tl_stack *stack,
		       struct c_call *call);

/* The number of the system call that the thread has just returned from: right behind its
 * instruction. -1: it cannot be told. */
int arguments_call_number(const struct arguments_place *place, const struct tl_stack *stack);

#endif
