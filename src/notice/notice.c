/* SPDX-License-Identifier: Apache-2.0 */
#include "notice/notice.h"

#include "base/clock.h"
#include "base/syscall.h"
#include "notice/guards.h"
#include "hit/stack.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>

/* ---- what the program tells --------------------------------------------------------------- */

void notice_tell(struct target *target, const struct area_hit *record)
{
	struct tl_stack stack = hit_stack(record);
	struct tl_access from = {.size = sizeof(from),
				 .pid = target->pid,
				 .tid = record->tid,
				 .identity = record->identity,
				 .time = record->entry_time,
				 .pc = record->registers.pc,
				 .stack = &stack};
	struct notice notice = {.from = &from, .address = record->address, .size = record->size};

	count_one(target->program, COUNT_NOTICES);
	if (record->flags & AREA_HIT_GUARD) {
		guards_tell(target, record);
		return;
	}
	/* The program may have written anything into the record; no block is at address 0. */
	if (!(record->flags & AREA_HIT_THREAD) && !record->address) {
		count_one(target->program, COUNT_HITS_STRANGE);
		return;
	}
	if (record->flags & AREA_HIT_THREAD)
		notice.kind = NOTICE_THREAD_BEGINS;
	else if (record->flags & AREA_HIT_BLOCK)
		notice.kind = NOTICE_BLOCK_ALLOCATED;
	else
		notice.kind = NOTICE_BLOCK_FREED;
	target->program->notices->events->notice(target->program, &notice);
}

void notice_thread(struct target *target, pid_t tid, uint64_t pointer)
{
	struct tl_access from = {
		.size = sizeof(from), .pid = target->pid, .tid = tid, .time = clock_now()};
	struct notice notice = {.kind = NOTICE_THREAD_BEGINS, .from = &from, .address = pointer};

	count_one(target->program, COUNT_NOTICES);
	target->program->notices->events->notice(target->program, &notice);
}

/* Wakes the thread that waits for the answer, which is that its record has been taken back: that
 * must be done before. */
void notice_answer(struct program *program, uint32_t process)
{
	struct area_process *shared = &program->area->process[process % AREA_PROCESSES];

	atomic_fetch_add(&shared->answered, 1);
	raw_futex((uint32_t *)&shared->answered, FUTEX_WAKE, INT_MAX, NULL);
}

/* ---- the heap ----------------------------------------------------------------------------- */

void notice_want_blocks(struct program *program, pid_t pid, unsigned index, uint64_t size)
{
	struct target *target = target_find(program, pid);
	struct area_heap *heap = target ? &target->shared->heap : NULL;

	if (!heap || index >= AREA_SIZES)
		return;
	atomic_store(&heap->size[index], size);
	if (atomic_load(&heap->sizes) <= index)
		atomic_store(&heap->sizes, index + 1);
}

int notice_note_block(struct program *program, pid_t pid, uint64_t block)
{
	struct target *target = target_find(program, pid);
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

bool notice_has_block(struct program *program, pid_t pid, uint64_t block)
{
	struct target *target = target_find(program, pid);

	for (unsigned i = 0; target && i < AREA_BLOCKS; i++)
		if (atomic_load(&target->shared->heap.block[i]) == block)
			return true;
	return false;
}

void notice_forget_block(struct program *program, pid_t pid, uint64_t block)
{
	struct target *target = target_find(program, pid);

	for (unsigned i = 0; target && i < AREA_BLOCKS; i++)
		if (atomic_load(&target->shared->heap.block[i]) == block)
			atomic_store(&target->shared->heap.block[i], 0);
}
