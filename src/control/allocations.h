/* SPDX-License-Identifier: Apache-2.0 */
/* What watched programs remember of their heap's blocks: see record/allocation.h. */
#ifndef CONTROL_ALLOCATIONS_H
#define CONTROL_ALLOCATIONS_H

#include "control/control.h"
#include "record/allocation.h"

struct control_block {
	uint64_t address, size; /* as asked for */
	struct allocation_event allocated;
	struct allocation_event freed; /* its time is 0 while the block is in use */
};

/* The block around `address` in process `pid`, or the last one there if it was freed since. False
 * when it is not among those remembered. Numbers are within bounds; frames may be anything. */
bool control_block_find(struct control *control, pid_t pid, uint64_t address,
			struct control_block *block);

#endif
