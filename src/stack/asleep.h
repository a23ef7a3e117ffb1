/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that sleep. Samples fall in code that runs, so what such threads do in between is hardly
 * ever sampled; their frames tell what they will return to. */
#ifndef STACK_ASLEEP_H
#define STACK_ASLEEP_H

#include "stack/context.h"

/* Now and then, one thread in turn: notes the functions on its stack as in use (functions_use()).
 */
void asleep_look(struct process *process, struct space *space, uint64_t now);

#endif
