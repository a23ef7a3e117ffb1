/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads of a process have SIGTRAP unblocked. No event is opened in the others. */
#ifndef INJECT_MASKS_H
#define INJECT_MASKS_H

#include <stdbool.h>
#include <sys/types.h>

enum masks {
	MASKS_OPEN,    /* some thread has it unblocked */
	MASKS_BLOCKED, /* no thread has, and that will last */
	/* no thread has, but some are in the moment in which libc blocks all signals */
	MASKS_MOMENT,
	MASKS_ENDED, /* no threads are left */
};

/* Looks, for a bounded time, until it is known of each thread; inject_look() knows it then, too. */
enum masks masks_look(pid_t pid);

/* Looks once. True: some thread has it unblocked for certain, or no thread is in doubt. A running
 * thread is in doubt at its first look. */
bool masks_are_known(pid_t pid);

#endif
