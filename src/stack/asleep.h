/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that sleep: no sample falls in what they do between, but their frames tell what they will
 * return to. */
#ifndef STACK_ASLEEP_H
#define STACK_ASLEEP_H

#include "stack/context.h"

/* Now and then one thread in turn: the functions on its stack are in use (functions_use()). */
void asleep_look(struct process *process, struct space *space, uint64_t now);

#endif
