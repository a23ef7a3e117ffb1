/* SPDX-License-Identifier: Apache-2.0 */
/* Why a process cannot be entered, and what to do: each rule of the kernel's has its own sentence.
 */
#ifndef INJECT_PERMISSION_H
#define INJECT_PERMISSION_H

#include "inject/inject.h"
#include "inject/status.h"

/* A system call on the process failed with -err: finds the rule that forbade it. Returns err. */
int permission_explain(struct inject_reason *reason, pid_t pid, int err);

/* Of -EPERM and -EACCES. `scope`: kernel.yama.ptrace_scope, where that is asked; else 0. */
int permission_explain_scope(struct inject_reason *reason, pid_t pid, int err, int scope);

/* The same, where the call was to open an event that is watched from outside. */
int permission_explain_events(struct inject_reason *reason, pid_t pid, int err);

/* Called before anything is done to the process: 0, or -errno with a reason. */
int permission_check(struct inject_reason *reason, pid_t pid, struct status *status);

/* Is it one that can be watched, entered or not: a living process of 64-bit code? Whether this user
 * may is not asked. 0, or -errno with a reason. */
int permission_check_process(struct inject_reason *reason, pid_t pid);

int __attribute__((format(printf, 3, 4)))
permission_refuse(struct inject_reason *reason, int err, const char *format, ...);

#endif
