/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of our own that the program's seccomp filters allow. A filter that is set through
 * libc is run here for each of them before the kernel has it: bare, the program may never make such
 * a call, and one that kills for it would end the program.
 *
 * Accepted: a filter of one thread counts for all, and whether a call's arguments decide is found
 * by two sets of them alone.
 */
#ifndef AGENT_PERMITTED_H
#define AGENT_PERMITTED_H

#include <linux/filter.h>
#include <stdbool.h>

/* A filter is about to be set. */
void permitted_note(const struct sock_fprog *filter);

/* May the call be made? True for one that is not in the list of permitted.c. Async-signal-safe. */
bool permitted(long number);

/* What watching a forked child, or an executed program, begins with; that needs newfstatat(2), too.
 */
bool permitted_to_begin(void);

#endif
