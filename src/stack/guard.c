/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/guard.h"

#include "base/clock.h"
#include "stack/copied.h"
#include "stack/frames.h"
#include "stack/judge.h"
#include "stack/tell.h"

#include <string.h>
#include <trapline/event.h>

#define RSP 4
#define RBP 5
#define WORD 8

#define HOLD (3 * MILLISECOND) /* at most: until the hit was looked at */
#define HOLD_ALL \
	(500 * MILLISECOND) /* where every frame is looked at, however busy the machine is */
/* There a process may take long to begin, or to get a CPU. */
#define WINDOW_ALL (1000 * MILLISECOND)
#define READY_WINDOW (100 * MILLISECOND)
/* A frame that lives longer is left for others. */
#define SLOT_WINDOW (50 * MILLISECOND)
#define SLOT_WINDOW_WANTED                                                    \
	(10000 * MILLISECOND) /* of a function that the user named, or of all \
			       */
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

/* A frame is done with; the next one of the user's choice is waited for. */
static void end_slot(struct stack *stack, struct task *task)
{
	if (task->armed >> STAGE_READY & 1)
		task_disarm(stack, task, STAGE_SLOT);
	else
		end(stack, task, false);
}

bool guard_begin_at(struct stack *stack, struct process *process, struct victim *victim)
{
	struct tl_watch watch = {.access = TL_EXEC,
				 .hits = 1,
				 .hold = stack->all ? HOLD_ALL : HOLD,
				 .window = stack->all ? WINDOW_ALL : READY_WINDOW};
	struct task *task = task_begin(stack, process);

	if (!task)
		return false;
	/* The user's own choice stays watched: each of its frames is looked at. */
	if (victim->wanted) {
		watch.window = SLOT_WINDOW_WANTED;
		watch.hits = 0;
	}
	watch.address = victim->code->start + victim->code->ready;
	task->victim = victim;
	victim->watched = true;
	victim->looks++;
	if (task_arm(stack, task, STAGE_READY, &watch)) {
		end(stack, task, false);
		return false;
	}
	return true;
}

bool guard_begin(struct stack *stack, struct process *process, uint64_t now)
{
	struct victim *victim = functions_victim(process->functions, now);

	return victim && guard_begin_at(stack, process, victim);
}

/* What runs on from an array comes to the canary first, then to the registers saved, then to the
 * return address; what is written far from one may hit each. */
static void choose_slot(struct stack *stack, struct task *task)
{
	const struct code *code = task->victim->code;
	/* One in four; never the first one, which may be the only one. */
	bool far = task->victim->met > 1 && stack->random >> 62 == 0;

	stack->random = stack->random * 6364136223846793005ull + 1442695040888963407ull;
	task->slot = task->entry;
	task->what = "the return address";
	if (far)
		return;
	if (code->canary.known) {
		task->slot = task->entry + (uint64_t)(int64_t)code->canary.offset;
		task->what = "the canary";
	} else if (code->saved.known) {
		task->slot = task->entry + (uint64_t)(int64_t)code->saved.offset;
		task->what = "a saved register";
	}
}

static void hit_ready(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct tl_watch watch = {.access = TL_WRITE,
				 .length = WORD,
				 .tid = access->tid,
				 .hits = SLOT_HITS,
				 .window = task->victim->wanted || stack->all ? SLOT_WINDOW_WANTED
									      : SLOT_WINDOW};

	task->victim->met++;
	if (!task->victim->wanted)
		task_disarm(stack, task, STAGE_READY);
	task_disarm(stack, task, STAGE_SLOT);
	task->tid = access->tid;
	task->frame_pc = access->pc;
	task->frame_rbp = access->registers->general[RBP];
	task->entry =
		access->registers->general[RSP] - (uint64_t)(int64_t)task->victim->code->depth;
	choose_slot(stack, task);
	watch.address = task->slot;
	if (task->slot % WORD ||
	    stack->services->read(stack->host, access->pid, task->slot, &task->value, WORD) !=
		    WORD ||
	    task_arm(stack, task, STAGE_SLOT, &watch))
		end_slot(stack, task);
	else
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

static void hit_slot(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct rules_overwrite overwrite = {.guessed = access->access & TL_GUESSED,
					    .implicit = access->traits & TL_TRAIT_STACK};
	struct rules_verdict verdict;
	uint64_t now = task->value;

	/* The function has returned when its stack pointer is above: a call is made anew. */
	overwrite.live = access->registers && access->registers->general[RSP] <= task->entry &&
			 !overwrite.implicit && is_live(stack, task, access);
	overwrite.prologue = task->victim->code->canary.known &&
			     access->pc - task->victim->code->start ==
				     task->victim->code->canary_at;
	overwrite.library = overwrite.live && is_unwinder(stack, task, access);
	overwrite.copied = overwrite.live &&
			   copied_is_stack(stack_space(stack, access->pid), access);
	overwrite.same_value =
		stack->services->read(stack->host, access->pid, task->slot, &now, WORD) == WORD &&
		now == task->value;
	rules_judge_overwrite(&overwrite, &verdict);
	if (overwrite.guessed && overwrite.live) {
		/* What runs on writes the slot's next byte, too. */
		stack->services->count(stack->host, verdict.rule, 1);
		return;
	}
	if (verdict.hidden)
		stack->services->count(stack->host, verdict.rule, 1);
	else if (!stack_was_reported(stack, access->pc))
		tell_overwrite(stack, access, task, &verdict);
	end_slot(stack, task);
}

void guard_hit(struct stack *stack, struct task *task, enum stage stage,
	       const struct tl_access *access)
{
	if (stage == STAGE_READY)
		hit_ready(stack, task, access);
	else
		hit_slot(stack, task, access);
}

void guard_over(struct stack *stack, struct task *task, enum stage stage)
{
	if (stage == STAGE_READY)
		end(stack, task, true);
	else
		end_slot(stack, task);
}
