/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/block.h"

#include "notice/allocations.h"
#include "record/finding.h"
#include "tool/complete.h"
#include "tool/host.h"

/* glibc gives a block up to this many bytes more than were asked for (its smallest chunk, or a
 * remainder too small to be a chunk), and whole pages to blocks that have a mapping of their
 * own. */
#define SLACK 32u
#define SLACK_MAPPED 8192u

/* Do the allocator's own headers agree? A block that was freed without our knowledge, by another
 * free() than the one in front of libc's, must not be taken for the one that has its place now. */
static bool agrees(const struct allocations_block *block, const struct symbol_variable *variable)
{
	uint64_t room = variable->size;

	/* Where the allocator has no headers, the variable is the whole mapping. */
	if (!room)
		return true;
	return variable->address == block->address && room >= block->size &&
	       room - block->size <= (room < 64 * SLACK ? SLACK : SLACK_MAPPED);
}

/* All frames are return addresses; frame 0 is shown as an instruction within the call. */
static void add_stack(struct tl_host *host, struct finding *finding, struct space *space,
		      const struct allocation_event *event, struct finding_stack *stack)
{
	for (uint32_t i = 0; i < event->frames; i++)
		if (!complete_frames(finding, space, stack, event->frame[i] - !i, i > 0,
				     host->set->options.raw))
			return;
}

void block_complete(struct tl_host *host, struct finding *finding, struct space *space,
		    const struct tl_access *access, const struct symbol_variable *variable)
{
	struct finding_object *object = &finding->object;
	struct finding_freed *freed = &object->freed;
	struct allocations_block block;

	if (!allocations_find(host->set->program, access->pid, access->address, &block) ||
	    !agrees(&block, variable))
		return;
	object->address = block.address;
	object->size = block.size;
	object->offset = access->address - block.address;
	object->tid = block.allocated.tid;
	object->thread = finding_string(finding, block.allocated.thread);
	object->time = complete_wall_time(block.allocated.time);
	add_stack(host, finding, space, &block.allocated, &object->stack);
	if (!block.freed.time)
		return;
	freed->tid = block.freed.tid;
	freed->thread = finding_string(finding, block.freed.thread);
	freed->time = complete_wall_time(block.freed.time);
	add_stack(host, finding, space, &block.freed, &freed->stack);
}
