/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the facts about an access that the rules ask for (rules.h). */
#ifndef STACK_JUDGE_H
#define STACK_JUDGE_H

#include "stack/context.h"
#include "stack/rules.h"

/* What is known of the frame whose memory it may be; zeros: nothing. */
struct judge_frame {
	pid_t tid;	      /* its thread */
	bool kept;	      /* the pointer was loaded from where it has stood since the return */
	bool result;	      /* the pointer is what its function returned */
	bool guessed;	      /* foretold.guessed */
	bool returned;	      /* the return was seen */
	uint64_t made;	      /* a time at which the frame was there: CLOCK_MONOTONIC, ns */
	uint64_t stack_start; /* of the stack that the C library made for the thread */
	uint64_t held_until;  /* when the accessing thread's hold ends: CLOCK_MONOTONIC, ns */
};

/* Judges an access to data; with access->before one that the thread is about to make. */
void judge_use(struct stack *stack, struct process *process, const struct tl_access *access,
	       const struct judge_frame *frame, struct rules_verdict *verdict);

/* Do the frames of a held thread lead up to where its own stack begins? */
bool judge_verified(const struct process *process, struct space *space,
		    const struct tl_access *access);

/* The facts that judge_use() goes by, without a verdict. */
void judge_describe(struct stack *stack, struct process *process, const struct tl_access *access,
		    const struct judge_frame *frame, struct rules_use *use);

/* The instruction at access->pc, and which operand makes the access. False: not known. */
bool judge_operand(struct space *space, const struct tl_access *access, struct insn *insn,
		   unsigned *operand);

/* Where the store goes that a thread is held before; 0: not known. */
uint64_t judge_stored_to(struct space *space, const struct tl_access *access);

#endif
