/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of the heap: `heap:SIZE@FUNCTION`. The program tells of each block of that size and waits;
 * if the function is on the stack and hardware is left, the block is watched until it is freed.
 */
#include "watch/heap.h"

#include "control/control.h"
#include "notice/notice.h"
#include "symbol/target.h"
#include "tool/complete.h"
#include "watch/data.h"
#include "watch/piece.h"
#include "watch/region.h"
#include "watch/scouts.h"
#include "watch/state.h"
#include "watch/wanted.h"
#include "watch/watched.h"

#include <errno.h>
#include <string.h>

#define STACK_FRAMES 64

bool heap_is_wanted(const struct watched *process, unsigned index)
{
	return process->resolved[index] && process->target[index].kind == SYMBOL_TARGET_HEAP_BLOCKS;
}

static bool has_room(const struct watch *watch, const struct watched *process, unsigned index)
{
	unsigned available = 0;

	for (unsigned i = 0; i < AREA_SLOTS; i++)
		available += !process->piece[i].armed || process->piece[i].scout;
	return pieces_needed(&process->target[index]) <= available ||
	       region_possible(watch, process);
}

/* Asks the program for notices of its blocks while a block could be watched, and only then: each
 * notice makes the thread that allocates wait. */
static void want(struct watch *watch, struct watched *process)
{
	for (unsigned i = 0; i < watch->options.expressions; i++) {
		bool room = heap_is_wanted(process, i) && has_room(watch, process, i);

		if (heap_is_wanted(process, i) && !room)
			watch->wanted[i].full = true;
		notice_want_blocks(watch->program, process->pid, i,
				   room ? process->target[i].block_size : 0);
	}
}

int heap_begin(struct watch *watch, struct watched *process, unsigned index)
{
	if (!has_room(watch, process, index))
		return -ENOSPC;
	notice_want_blocks(watch->program, process->pid, index, process->target[index].block_size);
	return 0;
}

/* Is the function among the callers, by its address or, if it was inlined, by its name? */
static bool is_allocated_by(const struct finding_access *access, const struct symbol_target *target)
{
	for (size_t i = 0; i < access->stack.count; i++) {
		const struct finding_frame *frame = &access->stack.frames[i];

		if ((frame->pc >= target->code[0] && frame->pc <= target->code_end) ||
		    (frame->function && strcmp(frame->function, target->name) == 0))
			return true;
	}
	return false;
}

static void arm_block(struct watch *watch, struct watched *process, unsigned index,
		      const struct notice *notice)
{
	const struct symbol_target *target = &process->target[index];
	uint64_t start = notice->address + (uint64_t)target->offset[0];
	int err = notice_note_block(watch->program, process->pid, notice->address);

	scouts_give_way(watch, process, pieces_needed(target));
	if (!err)
		err = watch_arm_data(watch, process, index, start, notice->address);
	if (err) {
		notice_forget_block(watch->program, process->pid, notice->address);
		watch->wanted[index].full = true;
	} else {
		watch->wanted[index].blocks++;
	}
}

static void allocated(struct watch *watch, struct watched *process, const struct notice *notice)
{
	struct space *space = control_space(watch->control, process->pid);
	struct finding *finding = space ? finding_create(FINDING_HIT) : NULL;
	struct finding_access *access =
		finding ? complete_access(finding, space, notice->from, STACK_FRAMES, false) : NULL;

	for (unsigned i = 0; access && i < watch->options.expressions; i++)
		if (heap_is_wanted(process, i) && process->target[i].block_size == notice->size &&
		    is_allocated_by(access, &process->target[i]))
			arm_block(watch, process, i, notice);
	if (finding)
		finding_destroy(finding);
	want(watch, process);
}

static void freed(struct watch *watch, struct watched *process, const struct notice *notice)
{
	watch_disarm_block(watch, process, notice->address);
	notice_forget_block(watch->program, process->pid, notice->address);
	want(watch, process);
}

void heap_notice(struct watch *watch, struct watched *process, const struct notice *notice)
{
	/* the thread that allocated waits, and opens regions before it goes on */
	process->may_open = true;
	if (notice->kind == NOTICE_BLOCK_ALLOCATED)
		allocated(watch, process, notice);
	else
		freed(watch, process, notice);
	process->may_open = false;
}

static const char *why_none(const struct watch *watch, const struct wanted *wanted)
{
	if (!watch->options.entered)
		return "no such block was allocated, as far as the program uses malloc() and its "
		       "like";
	if (wanted->full)
		return "no block was watched: what else is watched left too few hardware "
		       "watchpoints to find one";
	if (wanted->endless)
		return "no block was watched: some thread may be without a watchpoint, and could "
		       "free it unseen";
	return "no such block was met: no call of glibc's malloc() for that size was seen on whose "
	       "stack the function was";
}

void heap_print(const struct watch *watch, const struct wanted *wanted)
{
	FILE *to = watch->options.lines;

	if (!wanted->blocks)
		fprintf(to, "trapline: %s: %s\n", wanted->text, why_none(watch, wanted));
	else
		fprintf(to, "trapline: %s: %llu block%s watched%s\n", wanted->text,
			(unsigned long long)wanted->blocks, wanted->blocks == 1 ? " was" : "s were",
			watch->options.entered ? ", one at a time, others were not"
			: wanted->full ? ", others were not: all hardware watchpoints were in use"
				       : "");
}
