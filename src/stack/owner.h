/* SPDX-License-Identifier: Apache-2.0 */
/* Whose stack an address is on, and where its owner's stack pointer is. */
#ifndef STACK_OWNER_H
#define STACK_OWNER_H

#include "process/space.h"
#include "stack/rules.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct owner {
	pid_t tid;
	uint64_t pointer; /* its stack pointer, while it sleeps */
	bool verified;	  /* its frames lead to where its stack begins */
};

/* The thread that sleeps in a system call with its stack pointer in the mapping of `address`. Looks
 * at each thread of the process, at most OWNER_THREADS. `except`: not this one. */
#define OWNER_THREADS 1024
bool owner_find_asleep(struct space *space, pid_t pid, uint64_t address, pid_t except,
		       uint64_t main_start, struct owner *owner);
/* Does it still sleep there? */
bool owner_still(pid_t pid, const struct owner *owner);
/* How many threads it has; 0: not known. */
unsigned owner_threads(pid_t pid);
bool owner_exists(pid_t pid, pid_t tid);
/* Does a thread's own data lie at `fs_base`, as the ABI for thread-local storage has it? Its first
 * word is its own address (ELF Handling For Thread-Local Storage, 3.4.6, x86-64). */
bool owner_has_data(struct space *space, uint64_t fs_base);
/* Has the process a thread that began after `time` (CLOCK_MONOTONIC, ns), or just before? The C
 * library may have given it the stack of a thread that had ended. True also where that is not
 * known. */
bool owner_began_since(pid_t pid, uint64_t time);

#endif
