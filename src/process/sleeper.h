/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a thread that waits in a system call. */
#ifndef PROCESS_SLEEPER_H
#define PROCESS_SLEEPER_H

#include "process/space.h"
#include "process/thread_status.h"
#include "symbol/stack.h"

/* How many there are in `frames`, innermost first. The thread may wake meanwhile: who needs to know
 * looks again whether it sleeps as before. */
size_t sleeper_unwind(struct space *space, pid_t pid, const struct thread_sleep *sleep,
		      struct symbol_stack_frame *frames, size_t max);

#endif
