/* SPDX-License-Identifier: Apache-2.0 */
/* Puts together what the rules ask about an access. */
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
	uint64_t made;	      /* when the frame was there: ns of CLOCK_MONOTONIC */
	uint64_t stack_start; /* of the stack that the C library made for the thread */
	uint64_t held_until;  /* the accessing thread waits so long */
};

/* `access`: of data, after it was made; or with `before` not made yet. */
void judge_use(struct stack *stack, struct process *process, const struct tl_access *access,
	       const struct judge_frame *frame, struct rules_verdict *verdict);

/* Do the frames of a thread that is held lead to where its own stack begins? */
bool judge_verified(const struct process *process, struct space *space,
		    const struct tl_access *access);

/* The same as judge_use() without a verdict: what would be asked. */
void judge_describe(struct stack *stack, struct process *process, const struct tl_access *access,
		    const struct judge_frame *frame, struct rules_use *use);

/* The instruction at access->pc, and which operand makes the access. False: not known. */
bool judge_operand(struct space *space, const struct tl_access *access, struct insn *insn,
		   unsigned *operand);

/* Where the store goes that a thread is held before; 0: not known. */
uint64_t judge_stored_to(struct space *space, const struct tl_access *access);

#endif
