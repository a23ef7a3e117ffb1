/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that was entered may set an action of its own for SIGTRAP, and nothing tells the
 * controller: from then on hits and signals of limits reach the program's handler. The kernel still
 * counts them, while our handler is not heard of. Where that is so at two looks the process is
 * asked, by a thread that is stopped for it.
 *
 * Accepted: hits up to then are the program's; and nothing is noticed while some thread's hits
 * still reach a handler of ours that had begun before.
 */
#ifndef TARGET_TAKEN_H
#define TARGET_TAKEN_H

#include <stdbool.h>
#include <stdint.h>

struct target;

struct taken {
	uint64_t next_look, next_ask;
	uint64_t delivered; /* hits delivered to our handler until the last look */
	uint64_t looks;	    /* … of limits */
	uint64_t unheard;   /* hits that the kernel counted since our handler was last heard of */
	unsigned asks;
	bool is; /* the program has taken the action */
};

/* Has the program taken the action? For a process that was entered. */
bool taken_look(struct target *target);

#endif
