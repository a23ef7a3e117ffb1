/* SPDX-License-Identifier: Apache-2.0 */
/* The children of a process, as the kernel lists them now (/proc/PID/task/TID/children). */
#ifndef PROCESS_CHILDREN_H
#define PROCESS_CHILDREN_H

#include "event/threads.h"

/* Appends those of all its threads, of each 256 at most: what the program made is bounded. */
void children_list(struct thread_set *set, pid_t pid);

#endif
