/* SPDX-License-Identifier: Apache-2.0 */
#include "control/notice.h"

#include "base/syscall.h"
#include "control/guards.h"
#include "control/duty.h"
#include "control/state.h"
#include "control/upcall.h"
#include "hit/stack.h"
#include "process/cover.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* ---- threads ------------------------------------------------------------------------------ */

void control_announce_threads(struct control *control, pid_t pid)
{
	struct target *target = target_find(&control->program, pid);

	if (target)
		atomic_store(&target->shared->threads, 1);
}

uint64_t control_thread_pointer(struct control *control, pid_t pid)
{
	struct target *target = target_find(&control->program, pid);

	return target ? target->shared->thread_pointer : 0;
}

static struct slot *find_slot(struct control *control, pid_t pid, unsigned index,
			      struct target **target)
{
	*target = target_find(&control->program, pid);
	return *target && index < AREA_WATCHES ? &(*target)->slot[index] : NULL;
}

int control_arm_threads(struct control *control, pid_t pid, unsigned index,
			const struct tl_watch *watch)
{
	struct target *target;
	struct slot *slot = find_slot(control, pid, index, &target);

	if (!slot)
		return -ESRCH;
	slot_close(target, slot);
	memset(&slot->coverage, 0, sizeof(slot->coverage));
	slot->index = index;
	slot->watch = *watch;
	slot->watch.address = 0;
	slot->watch.hits = UINT_MAX;
	slot->each_thread = true;
	slot->open = true;
	slot_publish(target, slot);
	duty_begin(target, slot);
	return 0;
}

int control_arm_thread(struct control *control, pid_t pid, unsigned index, pid_t tid,
		       uint64_t address)
{
	struct target *target;
	struct slot *slot = find_slot(control, pid, index, &target);
	struct perf_request request;

	if (!slot || !slot->each_thread)
		return -ESRCH;
	request = (struct perf_request){.addr = address,
					.length = slot->watch.length,
					.access = slot->watch.access,
					.signal = true,
					.kernel = control->program.options.kernel,
					.data = area_tag(target->index, slot->index,
							 slot->generation)};
	return cover_add(target, &slot->coverage, &request, tid);
}

bool control_thread_lives(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

static void forget_ended(struct target *target, struct slot *slot)
{
	for (size_t i = 0; i < slot->coverage.count;) {
		if (!control_thread_lives(target->pid, slot->coverage.roots[i].tid))
			slot->ended_hits += coverage_remove(&slot->coverage, i);
		else
			i++;
	}
}

/* Their events hold descriptors of ours. */
void threads_check(struct target *target)
{
	for (unsigned i = 0; i < target->slots; i++)
		if (target->slot[i].each_thread)
			forget_ended(target, &target->slot[i]);
}

void control_close(struct control *control, pid_t pid, unsigned index)
{
	struct target *target;
	struct slot *slot = find_slot(control, pid, index, &target);

	if (slot)
		slot_close(target, slot);
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
