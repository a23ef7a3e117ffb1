/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of our own system calls the program's seccomp filters allow. A filter that is set through
 * libc is run here, for each of our calls, before the kernel has it: the program itself may never
 * make such a call, so a filter that kills for one would end the program because of us.
 *
 * Accepted: a filter of one thread counts for all threads; and whether a filter's answer depends on
 * a call's arguments is tried with two sets of arguments alone.
 */
#ifndef AGENT_PERMITTED_H
#define AGENT_PERMITTED_H

#include <linux/filter.h>
#include <stdbool.h>

/* A filter is about to be set. */
void permitted_note(const struct sock_fprog *filter);

/* May the system call be made? True for any that is not in the list of permitted.c.
 * Async-signal-safe. */
bool permitted(long number);

/* May all calls be made with which the watching of a forked child or an executed program begins?
 * These include newfstatat(2). */
bool permitted_to_begin(void);

#endif
