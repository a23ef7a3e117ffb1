/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/context.h"

#include <errno.h>
#include <string.h>

#define STAGE_BITS 4
#define TASK_BITS 8
/* Plans that are made for a process whatever they cost; after that the budget counts. */
#define PLANS_ANYWAY 1000

_Static_assert(STAGES <= 1 << STAGE_BITS, "a stage fits its bits of a cookie");
_Static_assert(TASKS <= 1 << TASK_BITS, "a task fits its bits of a cookie");

struct process *stack_process(struct stack *stack, pid_t pid)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (stack->process[i].pid == pid)
			return &stack->process[i];
	return NULL;
}

struct space *stack_space(struct stack *stack, pid_t pid)
{
	return tool_space(stack->host, pid);
}

/* Slots that the task takes, and one more where it waits for a load of a dangling address: a thread
 * that comes then needs one at once. */
static unsigned slots_of(const struct task *task)
{
	unsigned used = (unsigned)__builtin_popcount(task->armed);

	return task->armed == 1u << STAGE_HOLDER ? used + 1 : used;
}

bool stack_has_slot(struct stack *stack, const struct process *process)
{
	unsigned slots = stack->services->slots(stack->host, process->pid);
	unsigned used = 0;

	for (unsigned i = 0; i < TASKS; i++)
		if (stack->task[i].process == process)
			used += slots_of(&stack->task[i]);
	/* One slot stays free for the second watch that a question may take. */
	return used == 0 ? slots > 0 : used + 1 < slots;
}

struct task *task_begin(struct stack *stack, struct process *process)
{
	for (unsigned i = 0; i < TASKS; i++) {
		struct task *task = &stack->task[i];

		if (task->process)
			continue;
		*task = (struct task){.process = process, .turn = ++stack->turns};
		return task;
	}
	stack->services->count(stack->host, "stack-tasks-full", 1);
	return NULL;
}

static uint64_t cookie_of(const struct stack *stack, const struct task *task, enum stage stage)
{
	return task->turn << (STAGE_BITS + TASK_BITS) |
	       (uint64_t)(task - stack->task) << STAGE_BITS | stage;
}

int task_arm(struct stack *stack, struct task *task, enum stage stage, struct tl_watch *watch)
{
	int err;

	watch->size = sizeof(*watch);
	watch->pid = task->process->pid;
	watch->urgent = task->process->wanted ||
			(task->process->ahead && task->process->plans < PLANS_ANYWAY);
	watch->cookie = cookie_of(stack, task, stage);
	if (task->armed >> stage & 1)
		return -EALREADY;
	err = stack->services->arm(stack->host, watch);
	if (err)
		stack->services->count(stack->host, err == -EBUSY ? "stack-busy" : "stack-unarmed",
				       1);
	else
		task->armed |= 1u << stage;
	return err;
}

void task_disarm(struct stack *stack, struct task *task, enum stage stage)
{
	if (!(task->armed >> stage & 1))
		return;
	task->armed &= ~(1u << stage);
	stack->services->disarm(stack->host, cookie_of(stack, task, stage));
}

void task_end(struct stack *stack, struct task *task)
{
	for (unsigned stage = 0; stage < STAGES; stage++)
		task_disarm(stack, task, (enum stage)stage);
	if (task->site)
		task->site->watched = false;
	if (task->victim)
		task->victim->watched = false;
	task->process = NULL;
}

struct task *task_find(struct stack *stack, uint64_t cookie, enum stage *stage)
{
	struct task *task = &stack->task[cookie >> STAGE_BITS & ((1u << TASK_BITS) - 1)];

	*stage = (enum stage)(cookie & ((1u << STAGE_BITS) - 1));
	if ((cookie >> STAGE_BITS & ((1u << TASK_BITS) - 1)) >= TASKS || *stage >= STAGES ||
	    !task->process || task->turn != cookie >> (STAGE_BITS + TASK_BITS) ||
	    !(task->armed >> *stage & 1))
		return NULL;
	return task;
}

bool stack_was_reported(const struct stack *stack, uint64_t pc)
{
	return stack->reported[pc % REPORTED] == pc;
}

void stack_note_reported(struct stack *stack, uint64_t pc)
{
	stack->reported[pc % REPORTED] = pc;
}
