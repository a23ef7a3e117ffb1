/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread of a process is stopped to make calls for us. */
#ifndef INJECT_CHOOSE_H
#define INJECT_CHOOSE_H

#include <sys/types.h>

/* The thread that is best stopped now; 0: none can be. */
pid_t choose_thread(pid_t pid);

/* Waits for such a thread: until a child of vfork(2) has executed its program, the only thread
 * sleeps where nothing wakes it. 0; -ESRCH: the process has ended; -ETIMEDOUT. */
int choose_some_thread(pid_t pid, pid_t *tid);

#endif
