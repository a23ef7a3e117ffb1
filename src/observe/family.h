/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that are observed together: the one that was asked for, and those that it forked,
 * before or since, and these forked. All have executed nothing since, so that an address means the
 * same in each. The controller's thread alone uses it.
 */
#ifndef OBSERVE_FAMILY_H
#define OBSERVE_FAMILY_H

#include "event/threads.h"

#include <stdint.h>

struct family {
	struct thread_set processes; /* the one that was asked for comes first */
	uint64_t main_start;	     /* of its first stack: another one after each execve(2) */
	bool children;
};

/* 0 or -ENOMEM. Without `children`, and where it cannot be told who has executed something, it is
 * the one process. */
int family_begin(struct family *family, pid_t pid, bool children);
void family_end(struct family *family);
/* Who was forked since the last look, and who has ended or executed something. */
void family_look(struct family *family);
/* Is the thread, in which an event was opened just now, one of that process, and that one of these?
 */
bool family_has(const struct family *family, pid_t pid, pid_t tid);
/* The process that was asked for is another program now. */
bool family_is_lost(const struct family *family);
/* It is the same, and neither ends nor is about to become another. */
bool family_is_itself(const struct family *family);

typedef void family_fn(void *context, pid_t pid, pid_t tid);
/* As the kernel lists them now. */
void family_each_thread(const struct family *family, family_fn *each, void *context);

#endif
