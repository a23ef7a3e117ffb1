/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of threads, kept since a thread may have ended when its hit is read. The kernel tells them
 * by records; who has told none yet is asked.
 */
#ifndef OBSERVE_THREAD_NAMES_H
#define OBSERVE_THREAD_NAMES_H

#include "record/area.h"

#include <stdbool.h>
#include <sys/types.h>

#define THREAD_NAMES 4096 /* a power of two. Of two that meet one is asked for again */

struct thread_names {
	struct {
		pid_t tid;
		char name[AREA_NAME];
	} entry[THREAD_NAMES];
};

void thread_names_set(struct thread_names *names, pid_t tid, const char name[AREA_NAME]);
bool thread_names_has(const struct thread_names *names, pid_t tid);
/* What is kept, or what the kernel says now; "" of a thread that has ended. */
const char *thread_names_get(struct thread_names *names, pid_t pid, pid_t tid);
/* What the kernel says now is kept; of a thread that has ended what is known. */
void thread_names_ask(struct thread_names *names, pid_t pid, pid_t tid);

#endif
