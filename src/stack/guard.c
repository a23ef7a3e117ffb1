/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/guard.h"

#include "base/clock.h"
#include "stack/copied.h"
#include "stack/frames.h"
#include "stack/judge.h"
#include "stack/tell.h"

#include <string.h>
#include <trapline/event.h>

#define WORD 8

#define HOLD (3 * MILLISECOND)		/* at most: until the hit was looked at */
#define HOLD_WANTED (500 * MILLISECOND) /* however busy the machine is */
/* Doubled each time, until somebody has called it. */
#define READY_WINDOW_FIRST (5 * MILLISECOND)
#define READY_DOUBLINGS 4
#define READY_WINDOW (100 * MILLISECOND)
/* A frame that lives longer is left for others. */
#define SLOT_WINDOW (50 * MILLISECOND)
/* Of a function that the user named, or of all. */
#define SLOT_WINDOW_WANTED (10000 * MILLISECOND)
#define SLOT_HITS 16
#define PAUSE (4 * MILLISECOND) /* until the next look: doubled for a function nobody calls */
#define PAUSES 8

static void rest(struct task *task, bool idle)
{
	struct victim *victim = task->victim;

	victim->idle = idle ? victim->idle + 1 : 0;
	victim->next =
		victim->wanted
			? 0
			: clock_now() + (PAUSE << (victim->idle < PAUSES ? victim->idle : PAUSES));
}

static void end(struct stack *stack, struct task *task, bool idle)
{
	rest(task, idle);
	task_end(stack, task);
}

static bool has_armed_slot(const struct task *task)
{
	return task->armed & (1u << STAGE_SLOT | 1u << STAGE_FAR);
}

static void disarm_slots(struct stack *stack, struct task *task)
{
	task_disarm(stack, task, STAGE_SLOT);
	task_disarm(stack, task, STAGE_FAR);
}

static uint64_t ready_window(const struct victim *victim)
{
	return victim->met || victim->looks > READY_DOUBLINGS ? READY_WINDOW
							      : READY_WINDOW_FIRST << victim->looks;
}

/* The user's own choice stays watched, and each of its frames is looked at: however often it is
 * called, whatever that costs, and however busy the machine is. */
static int arm_ready(struct stack *stack, struct task *task)
{
	bool wanted = task->victim->wanted;
	struct tl_watch watch = {.access = TL_EXEC,
				 .address = task->victim->code->start + task->victim->code->ready,
				 .hits = wanted ? 0 : 1,
				 .hold = wanted			? HOLD_WANTED
					 : task->process->ahead ? HOLD_AHEAD
								: HOLD,
				 .window = wanted		  ? 0
					   : task->process->ahead ? WINDOW_AHEAD
								  : ready_window(task->victim)};

	return task_arm(stack, task, STAGE_READY, &watch);
}

/* A frame is done with; the next one of the user's choice is waited for. */
static void end_slot(struct stack *stack, struct task *task)
{
	disarm_slots(stack, task);
	if (task->armed >> STAGE_READY & 1)
		return;
	if (!task->victim->wanted || arm_ready(stack, task))
		end(stack, task, false);
}

bool guard_begin_at(struct stack *stack, struct process *process, struct victim *victim)
{
	struct task *task = task_begin(stack, process);

	if (!task)
		return false;
	task->victim = victim;
	victim->watched = true;
	victim->looks++;
	if (arm_ready(stack, task)) {
		end(stack, task, false);
		return false;
	}
	return true;
}

bool guard_begin(struct stack *stack, struct process *process, uint64_t now)
{
	struct victim *victim =
		functions_victim(process->functions, now, process->turns++ % 2 == 0);

	return victim && guard_begin_at(stack, process, victim);
}

/* What runs on from an array comes to the canary first, then to the registers saved, then to the
 * return address. */
static struct frame_slot nearest_slot(const struct task *task)
{
	const struct code *code = task->victim->code;

	if (code->canary.known)
		return (struct frame_slot){.address = task->entry +
						      (uint64_t)(int64_t)code->canary.offset,
					   .what = "the canary"};
	if (code->saved.known)
		return (struct frame_slot){.address = task->entry +
						      (uint64_t)(int64_t)code->saved.offset,
					   .what = "a saved register"};
	return (struct frame_slot){.address = task->entry, .what = "the return address"};
}

/* What is written far from an array may hit any slot. Where the user named the function both ends
 * are watched; else one of them, in one of four frames the far one, but never of the first frame,
 * which may be the only one. */
static void choose_slots(struct stack *stack, struct task *task)
{
	const struct frame_slot far = {.address = task->entry, .what = "the return address"};
	bool wanted = task->victim->wanted;

	task->slot[0] = nearest_slot(task);
	task->slot[1] = far;
	if (!wanted && task->victim->met > 1 && stack->random >> 62 == 0)
		task->slot[0] = far;
	stack->random = stack->random * 6364136223846793005ull + 1442695040888963407ull;
	if (!wanted || task->slot[0].address == far.address)
		task->slot[1].address = 0;
}

/* Who writes there is held until that was looked at: a return address that is overwritten can end
 * the process at once, and nothing of it could be read any more. False: it cannot be watched. */
static bool arm_slot(struct stack *stack, struct task *task, enum stage stage)
{
	struct frame_slot *slot = &task->slot[stage - STAGE_SLOT];
	/* Ahead its reads are told too: the frame's end is, and what comes behind it is planned. */
	struct tl_watch watch = {.access = task->process->ahead ? TL_READ | TL_WRITE : TL_WRITE,
				 .address = slot->address,
				 .length = WORD,
				 .tid = task->tid,
				 .hits = SLOT_HITS,
				 .hold = task->victim->wanted	? HOLD_WANTED
					 : task->process->ahead ? HOLD_AHEAD
								: HOLD,
				 .window = task->victim->wanted || task->process->ahead
						   ? SLOT_WINDOW_WANTED
						   : SLOT_WINDOW};

	return slot->address && slot->address % WORD == 0 &&
	       stack->services->read(stack->host, task->process->pid, slot->address, &slot->value,
				     WORD) == WORD &&
	       task_arm(stack, task, stage, &watch) == 0;
}

/* Is the next call to be met, too? Beside another tool there may be one slot, which the frame
 * needs: then the next one is met when this one has ended. */
static bool stays_ready(struct stack *stack, const struct task *task)
{
	return task->victim->wanted && stack->services->slots(stack->host, task->process->pid) > 1;
}

/* A frame of the user's choice that has just been guarded in another thread is not given up for the
 * next one: what it has hit may be on its way. */
static bool is_other_guarded(const struct task *task, const struct tl_access *access)
{
	return task->victim->wanted && task->tid != access->tid && has_armed_slot(task) &&
	       clock_now() - task->guarded_at < SLOT_WINDOW;
}

static void hit_ready(struct stack *stack, struct task *task, const struct tl_access *access)
{
	if (is_other_guarded(task, access)) {
		stack->services->count(stack->host, "stack-frames-passed", 1);
		return;
	}
	task->victim->met++;
	disarm_slots(stack, task);
	if (!stays_ready(stack, task))
		task_disarm(stack, task, STAGE_READY);
	task->tid = access->tid;
	task->frame_pc = access->pc;
	task->frame_stack = access->registers->general[SP];
	task->frame_base = access->registers->general[FP];
	task->entry = access->registers->general[SP] - (uint64_t)(int64_t)task->victim->code->depth;
	choose_slots(stack, task);
	if (!arm_slot(stack, task, STAGE_SLOT)) {
		end_slot(stack, task);
		return;
	}
	arm_slot(stack, task, STAGE_FAR);
	task->guarded_at = clock_now();
	stack->services->count(stack->host, "stack-frames-guarded", 1);
}

/* Does the thread's stack still have the frame, whose return address stands at its entry's stack
 * pointer? */
static bool is_live(struct stack *stack, const struct task *task, const struct tl_access *access)
{
	static struct tl_frame_place frames[FRAMES_MAX]; /* one thread; large */
	const struct code *code = task->victim->code;
	int count = frames_of(stack_space(stack, access->pid), access, frames, FRAMES_MAX);

	for (int i = 0; i < count && frames[i].cfa; i++)
		if (frames[i].cfa == task->entry + WORD)
			return frames[i].pc - code->start <= code->end - code->start;
	return false;
}

/* Of a C++ runtime that is linked in, by name. */
static bool is_unwinding_function(const char *name)
{
	static const char *const beginnings[] = {"_Unwind_", "uw_", "__libunwind_", "unw_resume"};

	for (size_t i = 0; name && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

/* … or without names. */
static bool is_unwinding_code(struct stack *stack, const struct task *task,
			      const struct tl_access *access)
{
	const struct code *code = functions_around(task->process->functions,
						   stack_space(stack, access->pid), access->pc);

	return code && code->unwinds;
}

static bool is_unwinder(struct stack *stack, const struct task *task,
			const struct tl_access *access)
{
	const char *module = stack->services->module(stack->host, access->pid, access->pc);

	return (module && (strstr(module, "/libgcc_s.") || strstr(module, "/libunwind"))) ||
	       is_unwinding_function(
		       stack->services->function_name(stack->host, access->pid, access->pc)) ||
	       is_unwinding_code(stack, task, access);
}

/* The function itself reads what it saved only as it returns; others, to unwind. */
static void read_slot(struct stack *stack, struct task *task, const struct tl_access *access)
{
	const struct code *code = task->victim->code;

	if (access->pc - code->start < code->end - code->start)
		end_slot(stack, task);
}

static void hit_slot(struct stack *stack, struct task *task, const struct frame_slot *slot,
		     const struct tl_access *access)
{
	struct rules_overwrite overwrite = {.guessed = access->access & TL_GUESSED,
					    .implicit = access->traits & TL_TRAIT_STACK};
	struct rules_verdict verdict;
	uint64_t now = slot->value;

	/* The function has returned when its stack pointer is above: a call is made anew. */
	overwrite.live = access->registers && access->registers->general[SP] <= task->entry &&
			 !overwrite.implicit && is_live(stack, task, access);
	overwrite.prologue = task->victim->code->canary.known &&
			     access->pc - task->victim->code->start ==
				     task->victim->code->canary_at;
	overwrite.library = overwrite.live && is_unwinder(stack, task, access);
	overwrite.copied = overwrite.live ? copied_what(stack, access) : COPIED_OTHER;
	task->process->copies |= overwrite.copied == COPIED_STACK;
	overwrite.same_value = stack->services->read(stack->host, access->pid, slot->address, &now,
						     WORD) == WORD &&
			       now == slot->value;
	rules_judge_overwrite(&overwrite, &verdict);
	if (overwrite.guessed && overwrite.live) {
		/* What runs on writes the slot's next byte, too. */
		stack->services->count(stack->host, verdict.rule, 1);
		return;
	}
	if (verdict.hidden)
		stack->services->count(stack->host, verdict.rule, 1);
	else if (!stack_was_reported(stack, access->pc))
		tell_overwrite(stack, access, task, slot, &verdict);
	end_slot(stack, task);
}

void guard_hit(struct stack *stack, struct task *task, enum stage stage,
	       const struct tl_access *access)
{
	if (stage == STAGE_READY)
		hit_ready(stack, task, access);
	else if (!(access->access & (TL_WRITE | TL_GUESSED)))
		read_slot(stack, task, access);
	else
		hit_slot(stack, task, &task->slot[stage - STAGE_SLOT], access);
}

void guard_over(struct stack *stack, struct task *task, enum stage stage)
{
	/* The other one is watched on. */
	if (has_armed_slot(task))
		return;
	if (stage == STAGE_READY)
		end(stack, task, true);
	else
		end_slot(stack, task);
}
