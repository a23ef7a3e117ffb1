/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which threads slots are opened. Among a great many threads most wait, but arming an inherited
 * event interrupts a CPU for each thread, sleeping ones too: with a thousand threads a single watch
 * takes as long as a hundred would in the few that run. So where few of many threads ran lately,
 * the slots are opened in these alone, and in some others drawn at random, since a sleeping thread
 * may wake.
 *
 * Which threads ran is told by the kernel's count of each thread's time slices, looked at now and
 * then; a thread that a clock sample shows is added at once. What is lost: hits of threads that
 * wake meanwhile.
 */
#ifndef TARGET_ACTIVE_H
#define TARGET_ACTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ACTIVE_MAX 48 /* threads */

struct target;
struct active_thread;

struct active {
	bool few;	  /* slots are opened in the threads of `tid` alone; else in all */
	unsigned version; /* slots opened for an earlier version are opened anew */
	unsigned count;
	pid_t tid[ACTIVE_MAX];
	struct active_thread *known; /* owned: all threads as last looked at */
	size_t known_count;
	uint64_t next_look;
	unsigned looks;
};

void active_look(struct target *target, uint64_t now);
/* The thread was seen to run, in a clock sample: it is covered from now on. */
void active_note(struct target *target, pid_t tid);
void active_forget(struct target *target);

#endif
