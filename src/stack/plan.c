/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/plan.h"

#include "insn/forward.h"
#include "stack/course.h"
#include "stack/frames.h"
#include "stack/guard.h"
#include "stack/order.h"
#include "stack/use.h"

#include <errno.h>
#include <string.h>

#define WORD 8
#define ITEMS 16
#define COURSE 4 /* of these, how many come from the held thread's course (course.h) */
#define WAITING (1u << STAGE_SITE | 1u << STAGE_READY)

/* Does the task still wait for a thread to come by? */
static bool is_waiting(const struct task *task)
{
	return task->armed && !(task->armed & ~WAITING);
}

static bool is_of(const struct task *task, const struct order_item *item)
{
	return item->site ? task->site == item->site : task->victim == item->victim;
}

/* How many watches are on frames and addresses that threads have come to. */
static unsigned busy(const struct stack *stack, const struct process *process)
{
	unsigned used = 0;

	for (unsigned i = 0; i < TASKS; i++)
		if (stack->task[i].process == process && !is_waiting(&stack->task[i]))
			used += (unsigned)__builtin_popcount(stack->task[i].armed);
	return used;
}

static bool is_watched(const struct order_item *item)
{
	return item->site ? item->site->watched : item->victim->watched;
}

/* The task that waits at an item, if one does. */
static struct task *waiting_at(struct stack *stack, const struct process *process,
			       const struct order_item *item)
{
	for (unsigned i = 0; i < TASKS; i++)
		if (stack->task[i].process == process && is_waiting(&stack->task[i]) &&
		    is_of(&stack->task[i], item))
			return &stack->task[i];
	return NULL;
}

/* Bytes of the frame from the lowest one whose address is taken: the more there are, the likelier
 * there is an array to be overrun. */
static uint64_t exposed(const struct task *task)
{
	if (!task->victim || task->victim->code->moves_freely)
		return UINT64_MAX;
	return (uint64_t) - (int64_t)task->victim->code->lowest_taken;
}

/* Ends one of the watches on what threads have come to: of the frame with the fewest such bytes,
 * and of equal ones that which is the oldest. */
static void give_up_least(struct stack *stack, const struct process *process)
{
	struct task *least = NULL;

	for (unsigned i = 0; i < TASKS; i++) {
		struct task *task = &stack->task[i];

		if (task->process != process || !task->armed || is_waiting(task))
			continue;
		if (!least || exposed(task) < exposed(least) ||
		    (exposed(task) == exposed(least) && task->turn < least->turn))
			least = task;
	}
	if (least)
		task_end(stack, least);
}

static bool is_live(const struct task *task, const struct tl_frame_place *frames, int count)
{
	for (int i = 0; i < count && frames[i].cfa; i++)
		if (frames[i].cfa == task->entry + WORD)
			return true;
	return false;
}

/* Ends the watches on frames from which the thread has returned since. */
static void give_up_gone(struct stack *stack, const struct tl_access *access,
			 const struct tl_frame_place *frames, int count)
{
	for (unsigned i = 0; i < TASKS; i++) {
		struct task *task = &stack->task[i];

		if (task->process && task->process->pid == access->pid &&
		    task->armed >> STAGE_SLOT & 1 && task->tid == access->tid &&
		    !is_live(task, frames, count))
			task_end(stack, task);
	}
}

static bool is_among(const struct order_item *item, const struct order_item *const *fresh,
		     unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (fresh[i]->site == item->site && fresh[i]->victim == item->victim)
			return true;
	return false;
}

/* Makes the first `room` items those that are waited at, and no others. */
static void replace(struct stack *stack, struct process *process, const struct order_item *items,
		    unsigned count, unsigned room)
{
	bool keep[TASKS] = {false};
	const struct order_item *fresh[ITEMS];
	unsigned wanted = 0, taken = 0;

	for (unsigned i = 0; i < count && taken < room; i++) {
		const struct task *task = waiting_at(stack, process, &items[i]);

		if (task)
			keep[task - stack->task] = true;
		else if (is_watched(&items[i]) || is_among(&items[i], fresh, wanted))
			continue;
		else
			fresh[wanted++] = &items[i];
		taken++;
	}
	for (unsigned i = 0; i < TASKS; i++)
		if (stack->task[i].process == process && is_waiting(&stack->task[i]) && !keep[i])
			task_end(stack, &stack->task[i]);
	for (unsigned i = 0; i < wanted; i++) {
		if (fresh[i]->site)
			use_begin_at(stack, process, fresh[i]->site);
		else
			guard_begin_at(stack, process, fresh[i]->victim);
	}
}

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	return space_read(context, address, to, length) == (ssize_t)length ? 0 : -EFAULT;
}

static void note_nothing(void *context, const struct insn_forward_access *access)
{
	(void)context;
	(void)access;
}

/* A held thread, and the places where it goes on, its own pc first. `pcs` has room for one more. */
struct held {
	const struct tl_registers *registers; /* NULL: there is none */
	uint64_t *pcs;
	unsigned count;
	unsigned returns; /* how many of these come before its return addresses */
};

static void plan(struct stack *stack, struct process *process, struct held held)
{
	struct space *space = stack_space(stack, process->pid);
	unsigned slots = stack->services->slots(stack->host, process->pid), used;
	struct order_item items[ITEMS];
	const char *given_up = NULL;
	unsigned found = 0;

	if (!space || slots < 2)
		return;
	used = busy(stack, process);
	/* Two slots are needed: one that waits ahead, and one that is free for what is watched when
	 * a thread comes there, since a thread stays held only until its slot is needed for
	 * something else. */
	while (used + 2 > slots) {
		give_up_least(stack, process);
		if (busy(stack, process) == used)
			return;
		used = busy(stack, process);
	}
	process->plans++;
	/* A thread whose frames are none of the program's, as before and after main(), has nothing
	 * ahead of it: then what comes after the entry point is taken. */
	if (held.registers && held.count >= held.returns)
		found = course_next(process->functions, space, held.registers,
				    held.pcs + held.returns, held.count - held.returns, items,
				    COURSE, &given_up);
	if (given_up)
		stack->services->count(stack->host, given_up, 1);
	held.pcs[held.count++] =
		process->entry +
		1; /* looked at like a return address, which lies behind its call */
	found += order_next(process->functions, space, held.pcs, held.count, items + found,
			    ITEMS - found);
	replace(stack, process, items, found, slots - used - 1);
	stack->services->count(stack->host, "stack-plans", 1);
}

void plan_begin(struct stack *stack, struct process *process, uint64_t entry)
{
	uint64_t pcs[2] = {entry};

	process->entry = entry;
	functions_place_called(process->functions, stack_space(stack, process->pid), entry);
	plan(stack, process, (struct held){.pcs = pcs, .count = 1});
}

/* Where the instruction at which the thread is held leads, if a register or memory says so; else 0.
 */
static uint64_t goes_to(struct space *space, const struct tl_access *access)
{
	struct insn_forward forward = {.pc = access->registers->pc,
				       .known = 0xffff,
				       .read = read_memory,
				       .tell = note_nothing,
				       .context = space};
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = space_code(space, forward.pc, bytes, sizeof(bytes));
	bool leaves = false;

	memcpy(forward.general, access->registers->general, sizeof(forward.general));
	if (insn_forward_step(&forward, bytes, available, &leaves) || !leaves)
		return 0;
	return forward.pc;
}

void plan_follow(struct stack *stack, struct process *process, const struct tl_access *access)
{
	struct space *space = stack_space(stack, access->pid);
	struct tl_frame_place frames[TASK_FRAMES];
	uint64_t pcs[1 + TASK_FRAMES + 1];
	int count = frames_of(space, access, frames, TASK_FRAMES);
	unsigned before = 0;

	pcs[0] = space ? goes_to(space, access) : 0;
	before = pcs[0] != 0;
	give_up_gone(stack, access, frames, count);
	plan(stack, process,
	     (struct held){.registers = access->registers,
			   .pcs = pcs,
			   .count = before + frames_pcs(frames, count, pcs + before, TASK_FRAMES),
			   .returns = before + 1});
}
