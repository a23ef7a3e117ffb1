/* SPDX-License-Identifier: Apache-2.0 */
/* Threads whose system calls, ours too, are given to a handler of their own
 * (PR_SET_SYSCALL_USER_DISPATCH). */
#ifndef INJECT_DISPATCH_H
#define INJECT_DISPATCH_H

#include <stdbool.h>
#include <sys/types.h>

/* Of a stopped thread. An older kernel does not tell. */
bool dispatch_is_on(pid_t tid);

/* It stopped with this status since its call did not reach the kernel (where that did not tell). */
bool dispatch_was(pid_t tid, int status);

#endif
