/* SPDX-License-Identifier: Apache-2.0 */
/* What watched programs remember of their heap's blocks: see record/allocation.h. */
#ifndef NOTICE_ALLOCATIONS_H
#define NOTICE_ALLOCATIONS_H

#include "target/target.h"
#include "record/allocation.h"

struct allocations_block {
	uint64_t address, size; /* as asked for */
	struct allocation_event allocated;
	struct allocation_event freed; /* its time is 0 while the block is in use */
};

/* The block around `address` in process `pid`, or the last one there if it was freed since. False
 * when it is not among those remembered. Numbers are within bounds; frames may be anything. */
bool allocations_find(struct program *program, pid_t pid, uint64_t address,
		      struct allocations_block *block);

#endif
