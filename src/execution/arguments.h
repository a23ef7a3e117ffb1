/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel reads while it executes a program, out of the reach of watchpoints. */
#ifndef EXECUTION_ARGUMENTS_H
#define EXECUTION_ARGUMENTS_H

#include <stddef.h>

struct agent_arguments {
	const char *path;
	char *const *argv;
	char *const *environment;
	void *memory; /* of the copy; NULL: the three are the caller's own */
	size_t size;
};

/*
 * execve(2) reads these strings for the calling thread. Where a watchpoint that covers the kernel's
 * accesses lies on one, its SIGTRAP is sent in the old image and arrives in the new one, which has
 * no handler for it and dies. So the kernel gets copies, in memory of their own; the program's
 * strings are read in its stead here. Async-signal-safe; does nothing in a vfork()ed child, which
 * has no events and borrows its parent's memory.
 */
void agent_arguments_copy(struct agent_arguments *arguments);

/* The execution failed. Leaves errno alone. */
void agent_arguments_free(const struct agent_arguments *arguments);

#endif
