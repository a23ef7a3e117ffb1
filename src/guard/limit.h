/* SPDX-License-Identifier: Apache-2.0 */
/* What a program is limited to it shall have to itself, also when it says so late. */
#ifndef GUARD_LIMIT_H
#define GUARD_LIMIT_H

#include <stdbool.h>

/* As the process begins to be watched. In a forked child a lock of the allocator's may be held by a
 * thread that is not there: nothing is given back to it. */
void limit_begin(void);
/* The process is about to limit itself, or to lock its memory: by functions that no signal
 * handler may call. */
void limit_before(long resource, const void *limit);
void limit_before_lock(void);
/* May blocks be given back to the allocator? In a child that was made without libc's fork() a lock
 * of the allocator's may be held for good; and where a seccomp filter forbids getpid(2) nobody
 * knows whether this is one. */
bool limit_may_free(void);

#endif
