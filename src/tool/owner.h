/* SPDX-License-Identifier: Apache-2.0 */
/* Whose stack an address lies in, where it is none of the threads that made the accesses. */
#ifndef TOOL_OWNER_H
#define TOOL_OWNER_H

#include "process/space.h"
#include "symbol/stack.h"
#include "symbol/variable.h"

#include <sys/types.h>

/* Looks among the threads of `pid` that sleep in a system call, since only for those does the
 * kernel tell the stack pointer of a thread that is not stopped (proc_pid_syscall(5)). Unwinds
 * the one whose stack holds `address` into `frames`. False: no stack does, or its owner is
 * running. */
bool owner_find(struct space *space, pid_t pid, uint64_t address, struct symbol_stack_frame *frames,
		size_t max, struct symbol_thread *thread);

#endif
