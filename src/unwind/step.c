/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/step.h"

#include <errno.h>

#include "unwind/cfi.h"
#include "unwind/frame.h"
#include "unwind/rows.h"
#include "unwind/table.h"

/* A call may be the last instruction of its function: its return address is beyond the end. */
static uintptr_t place_of(const struct unwind_registers *registers)
{
	return registers->value[UNWIND_PC] - !registers->interrupted;
}

/* 0, 1, -ENOENT without unwind information, or another -errno. */
static int step_by_table(struct walk *walk)
{
	struct object object;
	struct cfi_entry entry;
	struct cfi_row row;
	struct known_row known;
	uintptr_t place = place_of(&walk->registers);
	int status;

	if (object_find(place, &object))
		return -ENOENT;
	if (rows_recall(place, &object, &known))
		return rows_apply(&known, &walk->memory, &walk->registers, walk->saved_at);
	if (table_search(&object, place, &entry))
		return -ENOENT;
	if (cfi_find_row(&object.section, &entry, place, &row))
		return -EINVAL;
	rows_remember(place, &object, &entry, &row);
	status = frame_apply(&object.section, &entry, &row, &walk->memory, &walk->registers);
	/* That a frame is the outermost one is said of its code alone. */
	if (status != 1)
		memory_leave_trail(&walk->memory);
	return status;
}

/*
 * A return address where nothing is loaded is believed only if a call stands before it: this is
 * where a walk over a corrupted stack ends.
 */
static int check_place(struct walk *walk)
{
	struct object object;

	if (walk->registers.value[UNWIND_PC] == 0)
		return 1;
	if (walk->registers.interrupted || object_find(place_of(&walk->registers), &object) == 0 ||
	    frame_is_return_address(&walk->memory, walk->registers.value[UNWIND_PC]))
		return 0;
	return -EFAULT;
}

/*
 * Callers lie above, except across a signal frame (alternate stack) and where a function switched
 * stacks. The same frame twice, or many steps down, is a loop.
 */
static int check_progress(struct walk *walk, uint64_t stack_before, uint64_t pc_before)
{
	uint64_t stack = walk->registers.value[UNWIND_SP];

	if (walk->registers.interrupted || stack > stack_before)
		return 0;
	if (stack == stack_before && walk->registers.value[UNWIND_PC] == pc_before)
		return -ELOOP;
	return ++walk->downward > STEP_DOWNWARD_LIMIT ? -ELOOP : 0;
}

int walk_step(struct walk *walk)
{
	uint64_t stack = walk->registers.value[UNWIND_SP], pc = walk->registers.value[UNWIND_PC];
	int status = step_by_table(walk);

	if (status == -ENOENT) {
		memory_leave_trail(&walk->memory);
		status = frame_follow_pointer(&walk->memory, &walk->registers);
	}
	if (status == 0)
		status = check_progress(walk, stack, pc);
	return status ? status : check_place(walk);
}

int unwind_function_bounds(uintptr_t pc, uintptr_t *start, uintptr_t *end)
{
	struct object object;
	struct cfi_entry entry;

	if (table_find(pc, &object, &entry))
		return -ENOENT;
	*start = entry.start;
	*end = entry.end;
	return 0;
}
