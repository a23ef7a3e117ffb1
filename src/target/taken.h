/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that was entered may set an action of SIGTRAP of its own, and nobody tells: hits come
 * to its handler from then on, and signals of limits. But the kernel counts them, and our handler
 * is not heard of. Where that is so at two looks the process is asked, by a thread that is stopped
 * for it.
 *
 * Accepted: hits up to then, and all of them where some thread's still come to a handler of ours
 * that had begun before.
 */
#ifndef TARGET_TAKEN_H
#define TARGET_TAKEN_H

#include <stdbool.h>
#include <stdint.h>

struct target;

struct taken {
	uint64_t next_look, next_ask;
	uint64_t delivered; /* to our handler, by the last look */
	uint64_t looks;	    /* … of limits */
	uint64_t unheard;   /* hits that the kernel counted since it was last heard of */
	unsigned asks;
	bool is; /* by the program */
};

/* Has the program taken the action? Of a process that was entered. */
bool taken_look(struct target *target);

#endif
