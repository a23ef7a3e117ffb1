/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While a thread makes calls for us it runs before others, as the thread that waits for it does
 * (rush.h): each of its calls would wait for a CPU, on a busy machine among many.
 *
 * It is put back while the thread still stands. Afterwards the program itself would run with the
 * policy, keep the CPU from whoever puts it back, see it and hand it to its children.
 *
 * The file of its timer slack is opened before the thread is asked to stop and closed after it goes
 * on, since opening it takes longer than all the rest here. What is in it is read while the thread
 * stands: until then the program may change it.
 */
#ifndef INJECT_URGENCY_H
#define INJECT_URGENCY_H

#include <stdbool.h>
#include <sys/types.h>

struct urgency {
	pid_t tid;
	int fd; /* /proc/TID/timerslack_ns; -1: it is not open, and the thread is not raised */
	bool raised;
	int policy;		  /* the thread's before that, … */
	unsigned long long slack; /* … and the slack of its timers in ns, which the policy takes */
};

/* Before the thread is asked to stop. To be discarded whatever comes of it. */
void urgency_prepare(struct urgency *urgency, pid_t tid);
/* Both while the thread stands. A thread with a policy of its own keeps that. */
void urgency_begin(struct urgency *urgency);
void urgency_end(struct urgency *urgency);
/* After it has gone on, or where it never stopped. */
void urgency_discard(struct urgency *urgency);

#endif
