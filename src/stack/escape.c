/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/escape.h"

#include "stack/frames.h"
#include "stack/owner.h"

#define WORD 8

/* Is the stack one that the C library made for this thread, so that its memory means nothing once
 * the thread has ended? glibc keeps a thread's own data at the top of such a stack, and a guard
 * below it. A coroutine's stack may go on in another thread, and a stack that the program chose has
 * no guard and may be used for anything later. */
static bool is_thread_stack(struct space *space, const struct tl_access *access, uint64_t *start)
{
	uint64_t pointer = access->registers->general[SP], own = access->registers->fs_base, end;

	return space_mapping(space, pointer, start, &end) && own > pointer && own < end &&
	       space_guarded(space, pointer) && owner_has_data(space, own);
}

/*
 * Do the frames up to `found`, and the address, lie on the stack that the stack pointer is on?
 * Where a signal handler runs on an alternate stack, unwinding takes all that lies between the two
 * stacks for the kernel's frame, which is not so.
 */
static bool are_on_one_stack(struct space *space, const struct tl_frame_place *frames, int found,
			     uint64_t pointer, uint64_t address)
{
	uint64_t start, end;

	if (!space_mapping(space, pointer, &start, &end) || address < start || address >= end)
		return false;
	for (int i = 0; i <= found; i++)
		if (!frames[i].return_slot || frames[i].cfa > end)
			return false;
	return true;
}

bool escape_note_frame(struct space *space, struct task *task, const struct tl_access *access)
{
	struct tl_frame_place frames[TASK_FRAMES];
	uint64_t pointer = access->registers->general[SP];
	int count, found;

	/* The same call at the same depth as last time: the frame is as it was noted then. */
	task->made_time = access->time;
	if (task->made_count && task->made_address == task->address &&
	    task->made_pointer == pointer && task->tid == access->tid)
		return true;
	task->made_count = task->ended_count = 0;
	count = frames_of(space, access, frames, TASK_FRAMES);
	found = frames_find(frames, count, pointer, task->address);
	if (found < 0 || found + 1 >= count ||
	    !are_on_one_stack(space, frames, found, pointer, task->address))
		return false;
	/* The address is stored in the same frame, or in one that ends before it. */
	if (task->holder && task->holder >= pointer && task->holder < frames[found].cfa)
		return false;
	task->tid = access->tid;
	task->end = frames[found].cfa;
	task->frame_pc = frames[found].pc;
	task->frame_is_caller = found > 0;
	task->frame_stack = found ? frames[found - 1].cfa : pointer;
	task->low = task->frame_stack < task->address ? task->frame_stack : task->address;
	task->frame_base = found ? task->end - 2 * WORD : access->registers->general[FP];
	task->returns_to = frames[found + 1].pc;
	task->made_count = frames_pcs(frames, count, task->made, TASK_FRAMES);
	task->thread_stack = is_thread_stack(space, access, &task->stack_start);
	task->made_address = task->address;
	task->made_pointer = pointer;
	return true;
}
