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
/* How long a call of a function is waited for: doubled each time until there was one. */
#define READY_WINDOW_FIRST (5 * MILLISECOND)
#define READY_DOUBLINGS 4
#define READY_WINDOW (100 * MILLISECOND)
/* How long a frame is watched; one that lives longer is left for others. */
#define SLOT_WINDOW (50 * MILLISECOND)
/* The same where the user named the function, or with --all. */
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

/* A function that the user named stays watched, and each of its frames is looked at, whatever that
 * costs and however busy the machine is. */
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

/* Ends the watches of one frame. Where the user named the function the next one is waited for; else
 * the task ends. */
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

/* The slot that a write running on from an array comes to first: the canary, else the lowest saved
 * register, else the return address. */
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

/* Chooses the slots to be watched. A write far from an array may hit any slot. Where the user named
 * the function, both the nearest slot and the farthest (the return address) are watched. Else it is
 * one of them: in one frame of four the far one, but never in the first frame, which may be the
 * only one. */
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

/* Arms the watch. A thread that writes there is held until its hit has been looked at: with an
 * overwritten return address it may end the process at once, and nothing could be read then. False:
 * it cannot be watched. */
static bool arm_slot(struct stack *stack, struct task *task, enum stage stage)
{
	struct frame_slot *slot = &task->slot[stage - STAGE_SLOT];
	/* With --all reads are told, too: the function's return reads the slot, and what comes then
	 * is planned. */
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

/* Does the watch on the prologue's end stay armed to meet the next call? Beside another tool there
 * may be one slot only, which the frame's watch needs; then the next call is met after this frame
 * has ended. */
static bool stays_ready(struct stack *stack, const struct task *task)
{
	return task->victim->wanted && stack->services->slots(stack->host, task->process->pid) > 1;
}

/* Has a frame just been guarded in another thread? It is not given up for the next one, since a hit
 * of it may be on its way. */
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

/* Is the frame still on the thread's stack? It is known by where its return address stands, which
 * is the stack pointer at its entry. */
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

/* Is it a function by which a C++ runtime that is linked into the program unwinds? Told by name, …
 */
static bool is_unwinding_function(const char *name)
{
	static const char *const beginnings[] = {"_Unwind_", "uw_", "__libunwind_", "unw_resume"};

	for (size_t i = 0; name && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

/* … or, without names, by its code. */
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

/* A slot was read: by the function itself as it returns, by other code to unwind. */
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

	/* A stack pointer above the frame's entry means that the function has returned. */
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
		/* The slot stays watched: a write that runs on comes to its next byte, too. */
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
	/* The other slot stays watched. */
	if (has_armed_slot(task))
		return;
	if (stage == STAGE_READY)
		end(stack, task, true);
	else
		end_slot(stack, task);
}
