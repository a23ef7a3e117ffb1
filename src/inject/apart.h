/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done while a thread of another process has our registers. Whoever traces it must not die
 * in between: the kernel would let it go on with them. So a process apart does it, in the same
 * memory and with the same descriptors, while the caller waits as for a child of vfork(2). SIGKILL
 * to the caller, or to its process group, leaves that one to finish its work.
 *
 * Accepted: what kills all that share memory or a control group (the kernel out of memory,
 * cgroup.kill) kills both.
 */
#ifndef INJECT_APART_H
#define INJECT_APART_H

#include <stdbool.h>

typedef int apart_fn(void *context);

/* Runs `work` in a process apart and returns what it returned. If no such process can be made, or
 * it may not trace, `work` runs in the caller. */
int apart_run(apart_fn *work, void *context);

/* Does this run in the process apart? That process cannot wait for what its caller traces, nor the
 * caller for what that process traces. */
bool apart_is(void);

/* Asked within `work`: has the caller died? Then nothing new may be begun. */
bool apart_is_alone(void);

#endif
