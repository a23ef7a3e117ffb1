/* SPDX-License-Identifier: Apache-2.0 */
/* A finding in words: what was done, to which variable of which frame, and when that was gone. */
#ifndef STACK_TELL_H
#define STACK_TELL_H

#include "stack/context.h"
#include "stack/rules.h"

/* A use of a gone frame. `task`: what is known of the frame; NULL: nothing. */
void tell_use(struct stack *stack, const struct tl_access *access, const struct task *task,
	      const struct rules_verdict *verdict);
/* A write to a slot of the task's. */
void tell_overwrite(struct stack *stack, const struct tl_access *access, const struct task *task,
		    const struct frame_slot *slot, const struct rules_verdict *verdict);

#endif
