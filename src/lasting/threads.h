/* SPDX-License-Identifier: Apache-2.0 */
/* Lasting watches with an address of their own in each thread: its copy of a variable. */
#ifndef LASTING_THREADS_H
#define LASTING_THREADS_H

#include "target/target.h"

/* New threads of the process give notice from now on. */
void lasting_announce_threads(struct program *program, pid_t pid);
/* The thread pointer of the process's first thread; 0: not known. */
uint64_t lasting_thread_pointer(struct program *program, pid_t pid);

/* From now on slot `slot` watches an address of its own in each thread that is added to it by
 * lasting_arm_thread(). Both: 0 or -errno. */
int lasting_arm_threads(struct program *program, pid_t pid, unsigned slot,
			const struct tl_watch *watch);
int lasting_arm_thread(struct program *program, pid_t pid, unsigned slot, pid_t tid,
		       uint64_t address);

bool lasting_thread_lives(pid_t pid, pid_t tid);

/* Closes the events of threads that have ended, in slots that watch an address in each thread. */
void threads_check(struct target *target);

#endif
