/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While a thread makes calls for us it runs before others, as the thread that waits for it does
 * (rush.h): each of its calls would wait for a CPU, on a busy machine among many.
 *
 * It is put back while the thread still stands. Afterwards the program itself would run with the
 * policy, keep the CPU from whoever puts it back, see it and hand it to its children.
 */
#ifndef INJECT_URGENCY_H
#define INJECT_URGENCY_H

#include <stdbool.h>
#include <sys/types.h>

#define URGENCY_SLACK 32 /* bytes: ns in decimal, and a newline */

struct urgency {
	bool raised;
	int policy;		   /* the thread's before that, … */
	char slack[URGENCY_SLACK]; /* … and the slack of its timers, which the policy takes away */
};

/* A thread with a policy of its own keeps that. */
void urgency_begin(struct urgency *urgency, pid_t tid);
void urgency_end(struct urgency *urgency, pid_t tid);

#endif
