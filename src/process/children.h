/* SPDX-License-Identifier: Apache-2.0 */
/* The children of a process, as the kernel lists them now (/proc/PID/task/TID/children). */
#ifndef PROCESS_CHILDREN_H
#define PROCESS_CHILDREN_H

#include "event/threads.h"

#include <stdint.h>

#define CHILDREN_ALL_THREADS SIZE_MAX

/* Appends those of its first `threads` threads, of each 256 at most: what the program made is
 * bounded. */
void children_list(struct thread_set *set, pid_t pid, size_t threads);

#endif
