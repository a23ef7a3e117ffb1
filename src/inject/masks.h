/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads of a process take SIGTRAP: nothing is opened in those that do not. */
#ifndef INJECT_MASKS_H
#define INJECT_MASKS_H

#include <stdbool.h>
#include <sys/types.h>

enum masks {
	MASKS_OPEN,    /* some thread takes it */
	MASKS_BLOCKED, /* none does, and that lasts */
	MASKS_MOMENT,  /* none does, but where libc blocks all signals itself, and has had no CPU */
	MASKS_ENDED,   /* there are no threads any more */
};

/* Looks until it is known of each thread, for a bounded time: inject_look() knows then. */
enum masks masks_look(pid_t pid);

/* One look: does a thread take it for certain, or is no thread in doubt? One that runs is in doubt
 * at its first look. */
bool masks_are_known(pid_t pid);

#endif
