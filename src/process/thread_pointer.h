/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread pointer of a thread that is neither stopped nor asked: where its thread-local
 * variables are.
 *
 * The kernel tells anybody who may trace a thread where that thread's list of robust futexes begins
 * (get_robust_list(2)). C libraries keep its head in the descriptor of the thread, which begins at
 * the thread pointer with a pointer to itself. So the descriptor is looked for downwards from the
 * head: in glibc it points to itself twice, at 0 and at 16 (tcbhead_t's tcb and self,
 * sysdeps/x86_64/nptl/tls.h).
 */
#ifndef PROCESS_THREAD_POINTER_H
#define PROCESS_THREAD_POINTER_H

#include "process/space.h"

/* 0: not known. The thread has not begun, or its C library names no list (musl until a thread locks
 * a robust mutex), or another descriptor than glibc's. */
uint64_t thread_pointer(struct space *space, pid_t tid);

#endif
