/* SPDX-License-Identifier: Apache-2.0 */
/* Threads whose system calls, ours too, are given to a handler of their own
 * (PR_SET_SYSCALL_USER_DISPATCH). */
#ifndef INJECT_DISPATCH_H
#define INJECT_DISPATCH_H

#include <stdbool.h>
#include <sys/types.h>

/* Asks a stopped thread. Kernels before 6.4 do not tell. */
bool dispatch_is_on(pid_t tid);

/* Did it stop with this status because its call was given to the handler? Asked where the kernel
 * did not tell. */
bool dispatch_was(pid_t tid, int status);

#endif
