/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a program that is executed: the caller's, and our two variables. What the
 * program has is not to change for anybody else, so it is an array of its own: in the caller's
 * frame where it is small, else in pages of its own (scratch.h).
 *
 * Another thread may change the environment meanwhile. What is read of it is read by the kernel,
 * which refuses where a plain access would fault, each word once; so nothing worse can come of it
 * than what execve(2) would have made of the same race.
 */
#ifndef EXECUTION_EXTENSION_H
#define EXECUTION_EXTENSION_H

#include "agent/state.h"

#include <stddef.h>

#define EXTENSION_NEAR 1024 /* bytes of a small one */

struct agent_extension {
	char *const *environment; /* to hand on: the extended one, or the caller's own */
	bool extended;
	void *memory; /* NULL: it is in `near` */
	size_t size;
	_Alignas(char *) char near[EXTENSION_NEAR];
};

/* Is there somebody to watch what is executed, and a library to load into it? */
bool agent_can_follow(void);

/* False where it cannot be had: it cannot be read, of which the kernel will say EFAULT, it is
 * longer than the kernel takes, or there is no memory. The caller's own is handed on then. */
bool agent_extend(struct agent_extension *extension, char *const environment[]);
/* The call has returned. Leaves errno alone. */
void agent_extension_end(struct agent_extension *extension);

#endif
