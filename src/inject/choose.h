/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread of a process is stopped to make calls for us. */
#ifndef INJECT_CHOOSE_H
#define INJECT_CHOOSE_H

#include <sys/types.h>

/* The one that is best stopped. 0: none can be now. */
pid_t choose_thread(pid_t pid);

/* The same, but it is waited for: while a child of vfork(2) has not executed its program yet the
 * only thread sleeps where nothing wakes it. 0; -ESRCH: the process has ended; -ETIMEDOUT. */
int choose_some_thread(pid_t pid, pid_t *tid);

#endif
