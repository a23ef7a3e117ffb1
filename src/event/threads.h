/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of kernel thread ids. Async-signal-safe: memory comes from mmap(2), listings from
 * getdents(2). */
#ifndef EVENT_THREADS_H
#define EVENT_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct thread_set {
	pid_t *tids;
	size_t count;
	size_t capacity;
};

void thread_set_destroy(struct thread_set *set);
int thread_set_add(struct thread_set *set, pid_t tid); /* 0 or -ENOMEM */
bool thread_set_contains(const struct thread_set *set, pid_t tid);

/* Append the threads of process `pid` (0: this one) as the kernel lists them now. 0 or -errno. */
int thread_set_list(struct thread_set *set, pid_t pid);
/* Of this process, and whether they were all of them at one moment during the call: the kernel's
 * listing may leave threads out while others end. Takes it that ids are not given anew within it.
 */
int thread_set_list_whole(struct thread_set *set, bool *whole);
/* The same as thread_set_list(), with a call of `between` after each twenty threads or so. */
int thread_set_list_paced(struct thread_set *set, pid_t pid, void (*between)(void));

#endif
