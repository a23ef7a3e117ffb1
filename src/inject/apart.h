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

/* What `work` returned. Where no process can be made, or that one may not trace, it is done here.
 */
int apart_run(apart_fn *work, void *context);

/* Is this the process apart? It cannot wait for what its caller traces, nor that for what it does.
 */
bool apart_is(void);

/* Within `work`: the caller has died, and nothing is to be begun any more. */
bool apart_is_alone(void);

#endif
