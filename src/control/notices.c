/* SPDX-License-Identifier: Apache-2.0 */
#include "control/notice.h"

#include "base/syscall.h"
#include "control/guards.h"
#include "control/state.h"
#include "control/upcall.h"
#include "hit/stack.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>

/* ---- what the program tells --------------------------------------------------------------- */

void notice_tell(struct control *control, struct target *target, const struct area_hit *record)
{
	struct tl_stack stack = hit_stack(record);
	struct tl_access from = {.size = sizeof(from),
				 .pid = target->pid,
				 .tid = record->tid,
				 .identity = record->identity,
				 .time = record->entry_time,
				 .pc = record->registers.pc,
				 .stack = &stack};
	struct control_notice notice = {
		.from = &from, .address = record->address, .size = record->size};

	count_one(&control->program, COUNT_NOTICES);
	if (record->flags & AREA_HIT_GUARD) {
		guards_tell(control, target, record);
		return;
	}
	if (record->flags & AREA_HIT_THREAD)
		notice.kind = CONTROL_THREAD_BEGINS;
	else if (record->flags & AREA_HIT_BLOCK)
		notice.kind = CONTROL_BLOCK_ALLOCATED;
	else
		notice.kind = CONTROL_BLOCK_FREED;
	if (control->observer.notice)
		control->observer.notice(control->observer.context, &notice);
}

/* The record must have been taken back before: that is the answer, this wakes who waits for it. */
void notice_answer(struct control *control, uint32_t process)
{
	struct area_process *shared = &control->program.area->process[process % AREA_PROCESSES];

	atomic_fetch_add(&shared->answered, 1);
	raw_futex((uint32_t *)&shared->answered, FUTEX_WAKE, INT_MAX, NULL);
}

/* ---- the heap ----------------------------------------------------------------------------- */

void control_want_blocks(struct control *control, pid_t pid, unsigned index, uint64_t size)
{
	struct target *target = target_find(&control->program, pid);
	struct area_heap *heap = target ? &target->shared->heap : NULL;

	if (!heap || index >= AREA_SIZES)
		return;
	atomic_store(&heap->size[index], size);
	if (atomic_load(&heap->sizes) <= index)
		atomic_store(&heap->sizes, index + 1);
}

int control_note_block(struct control *control, pid_t pid, uint64_t block)
{
	struct target *target = target_find(&control->program, pid);
	struct area_heap *heap = target ? &target->shared->heap : NULL;

	for (uint32_t i = 0; heap && i < AREA_BLOCKS; i++) {
		if (atomic_load(&heap->block[i]))
			continue;
		atomic_store(&heap->block[i], block);
		if (atomic_load(&heap->blocks) <= i)
			atomic_store(&heap->blocks, i + 1);
		return 0;
	}
	return heap ? -ENFILE : -ESRCH;
}

void control_forget_block(struct control *control, pid_t pid, uint64_t block)
{
	struct target *target = target_find(&control->program, pid);

	for (unsigned i = 0; target && i < AREA_BLOCKS; i++)
		if (atomic_load(&target->shared->heap.block[i]) == block)
			atomic_store(&target->shared->heap.block[i], 0);
}
