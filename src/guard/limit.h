/* SPDX-License-Identifier: Apache-2.0 */
/* A program that limits its memory shall have all of it to itself, also where it does so late. */
#ifndef GUARD_LIMIT_H
#define GUARD_LIMIT_H

#include <stdbool.h>

/* To be called as the process begins to be watched. A forked child gives nothing back to the
 * allocator: one of its locks may be held by a thread that does not exist in the child. */
void limit_begin(void);
/* The process is about to limit itself, or to lock its memory. Both are called from functions that
 * no signal handler may call. */
void limit_before(long resource, const void *limit);
void limit_before_lock(void);
/* May blocks be given back to the allocator? Not in a child that was made without libc's fork(),
 * where a lock of the allocator's may be held for good. Nor where a seccomp filter forbids
 * getpid(2), since it is not known then whether this is such a child. */
bool limit_may_free(void);

#endif
