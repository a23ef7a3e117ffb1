/* SPDX-License-Identifier: Apache-2.0 */
/* The functions by which a program asks a runtime to run one of its functions in several threads:
 * public entry points of libgomp and libomp, which compilers call. */
#ifndef TEAM_RUNTIME_H
#define TEAM_RUNTIME_H

#include "process/space.h"

#include <stdint.h>
#include <sys/types.h>

#define TEAM_ENTRIES 4

struct team_entry {
	uint64_t address;
	unsigned argument; /* the number of the argument that is the function */
};

/* The entry points that the program's own file calls; where it calls none, the first DEFAULTS of
 * the runtime that is loaded, which a library of the program's may call. Returns how many. */
unsigned team_entries(struct space *space, pid_t pid, struct team_entry entry[static TEAM_ENTRIES]);

/* Is that code of such a runtime? */
bool team_is_runtime(struct space *space, uint64_t pc);

#endif
