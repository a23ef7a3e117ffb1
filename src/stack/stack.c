/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callbacks, and which question is asked next. Three kinds share the slots: instructions that a
 * sample made suspect (suspect.c), addresses of locals that leave their frames (use.c), and slots
 * of live frames (guard.c).
 */
#include "stack/stack.h"

#include "base/clock.h"
#include "process/entry_point.h"
#include "process/stat_file.h"
#include "stack/asleep.h"
#include "stack/context.h"
#include "stack/counts.h"
#include "stack/guard.h"
#include "stack/owner.h"
#include "stack/plan.h"
#include "stack/suspect.h"
#include "stack/use.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* To look at a function takes 20 to 50 µs; at 50 ticks a second this takes half a percent to one
 * and a half of a CPU until all functions are known. */
#define FUNCTIONS_A_TICK 6
#define SLOTS 4
#define BEGIN_MOST (500 * MILLISECOND) /* that a process waits, until its functions are known */
#define SPENT_MOST 95 /* percent of the budget: above it no new question is asked */

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct stack *stack = calloc(1, sizeof(*stack));

	if (!stack)
		return -ENOMEM;
	stack->host = host;
	stack->services = services;
	stack->random = clock_now() | 1;
	stack->function = services->option(host, "function");
	stack->all = services->option(host, "all") && !stack->function;
	*state = stack;
	return 0;
}

static void count_functions(struct stack *stack, const struct process *process)
{
	struct functions_size size = functions_size(process->functions);

	stack->services->count(stack->host, "stack-functions", size.functions);
	stack->services->count(stack->host, "stack-sites", size.sites);
	stack->services->count(stack->host, "stack-victims", size.victims);
	stack->services->count(stack->host, "stack-functions-dropped", size.dropped);
}

static void on_process_ended(void *state, pid_t pid)
{
	struct stack *stack = state;
	struct process *process = stack_process(stack, pid);

	if (!process)
		return;
	for (unsigned i = 0; i < TASKS; i++)
		if (stack->task[i].process == process)
			task_end(stack, &stack->task[i]);
	count_functions(stack, process);
	functions_destroy(process->functions);
	*process = (struct process){0};
}

/* Makes the process's entry point known. Not done as it begins, so that a process that ends at once
 * costs nothing. */
static void see_process(struct stack *stack, struct process *process, struct space *space)
{
	uint64_t entry = process_entry_point(process->pid);

	process->seen = true;
	process->main_start = stat_file_number(process->pid, 0, STAT_STARTSTACK);
	if (entry) {
		functions_see(process->functions, space, entry);
		functions_see_data(process->functions, space, entry);
	}
	if (stack->function)
		process->wanted = functions_want(process->functions, space, stack->function);
	if (stack->function && !process->wanted)
		stack->services->log(stack->host, "no function is called '%s' in process %d",
				     stack->function, (int)process->pid);
}

static void on_sample(void *state, const struct tl_access *access)
{
	struct stack *stack = state;
	struct process *process = stack_process(stack, access->pid);
	struct space *space = process ? stack_space(stack, access->pid) : NULL;

	if (!space || !process->seen || !access->registers)
		return;
	functions_see(process->functions, space, access->pc);
	functions_use(process->functions, space, access->pc);
	suspect_sample(stack, process, access);
}

/* Asks one new question. False: there is none now. */
static bool begin(struct stack *stack, struct process *process)
{
	uint64_t now = clock_now();

	/* The user named a function: any other question would cost more than the budget, and take
	 * the slot for the far end of that function's frames. */
	if (process->wanted)
		return guard_begin(stack, process, now);
	if (suspect_begin(stack, process))
		return true;
	process->guards = !process->guards;
	return process->guards ? guard_begin(stack, process, now) || use_begin(stack, process, now)
			       : use_begin(stack, process, now) || guard_begin(stack, process, now);
}

static void begin_all(struct stack *stack, struct process *process)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if ((stack->services->spent(stack->host) > SPENT_MOST && !process->wanted) ||
		    !stack_has_slot(stack, process) || !begin(stack, process))
			return;
}

/* Watches the function that the user named from the program's first instruction on: the program
 * waits meanwhile. */
static void begin_wanted(struct stack *stack, struct process *process)
{
	struct space *space = stack_space(stack, process->pid);

	if (!space)
		return;
	see_process(stack, process, space);
	begin_all(stack, process);
}

/* Watches what the program comes to first, with --all: the program waits meanwhile. */
static void begin_ahead(struct stack *stack, struct process *process)
{
	struct space *space = stack_space(stack, process->pid);
	uint64_t until = clock_now() + BEGIN_MOST;

	if (!space)
		return;
	process->ahead = true;
	functions_note_calls(process->functions);
	see_process(stack, process, space);
	while (functions_work(process->functions, space, FUNCTIONS_A_TICK) && clock_now() < until)
		;
	plan_begin(stack, process, process_entry_point(process->pid));
}

static void on_process_began(void *state, pid_t pid)
{
	struct stack *stack = state;
	struct process *process = stack_process(stack, 0);

	if (!process) {
		stack->services->count(stack->host, "stack-processes-full", 1);
		return;
	}
	*process = (struct process){.pid = pid, .functions = functions_create()};
	if (!process->functions)
		process->pid = 0;
	else if (stack->function)
		begin_wanted(stack, process);
	else if (stack->all)
		begin_ahead(stack, process);
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct stack *stack = state;
	enum stage stage;
	struct task *task = task_find(stack, access->cookie, &stage);
	struct process *process;

	if (!task || !access->registers)
		return;
	process = task->process;
	if (stage == STAGE_SUSPECT)
		suspect_hit(stack, task, access);
	else if (stage >= STAGE_READY)
		guard_hit(stack, task, stage, access);
	else
		use_hit(stack, task, stage, access);
	if (process->ahead && (stage == STAGE_READY || stage == STAGE_SITE || !task->armed))
		plan_follow(stack, process, access);
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct stack *stack = state;
	enum stage stage;
	struct task *task = task_find(stack, watch->cookie, &stage);

	(void)hits;
	(void)threads;
	if (!task)
		return;
	task->armed &= ~(1u << stage);
	if (stage == STAGE_SUSPECT)
		suspect_over(stack, task);
	else if (stage >= STAGE_READY)
		guard_over(stack, task, stage);
	else
		use_over(stack, task, stage);
}

static void on_tick(void *state)
{
	struct stack *stack = state;

	for (unsigned i = 0; i < TASKS; i++)
		if (stack->task[i].process && stack->task[i].site)
			use_tick(stack, &stack->task[i], clock_now());
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &stack->process[i];
		struct space *space = process->pid ? stack_space(stack, process->pid) : NULL;

		if (!space)
			continue;
		if (!process->seen)
			see_process(stack, process, space);
		functions_work(process->functions, space, FUNCTIONS_A_TICK);
		asleep_look(process, space, clock_now());
		begin_all(stack, process);
	}
}

static void finish(void *state)
{
	struct stack *stack = state;

	for (unsigned i = 0; i < PROCESSES; i++)
		functions_destroy(stack->process[i].functions);
	free(stack);
}

const struct tl_tool stack_tool = {
	.size = sizeof(stack_tool),
	.version = TL_TOOL_VERSION,
	.name = "stack",
	.summary = "find uses of frames that are gone, and writes over live ones",
	.start = start,
	.sample = on_sample,
	.hit = on_hit,
	.unwatched = on_unwatched,
	.exit = finish,
	.process_began = on_process_began,
	.process_ended = on_process_ended,
	.tick = on_tick,
	.slots = SLOTS,
	.wants = TL_WANTS_OWN_STACK,
	.counts = stack_counts,
};
