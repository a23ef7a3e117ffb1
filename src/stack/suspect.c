/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/suspect.h"

#include "base/clock.h"
#include "process/thread_status.h"
#include "stack/judge.h"
#include "tool/registers.h"
#include "stack/rules.h"
#include "stack/tell.h"

#include <string.h>
#include <trapline/event.h>

#define WINDOW (300 * MILLISECOND)
#define HOLD (3 * MILLISECOND)
#define HITS 8
#define LOOKS 6 /* at an instruction, until it is taken to be harmless */

static struct suspect *find(struct process *process, uint64_t pc)
{
	struct suspect *least = &process->suspect[0];

	for (unsigned i = 0; i < SUSPECTS; i++) {
		struct suspect *suspect = &process->suspect[i];

		if (suspect->pc == pc)
			return suspect;
		if (!suspect->watched && suspect->looks >= least->looks &&
		    (!suspect->wanted || least->wanted))
			least = suspect;
	}
	if (least->watched || least->wanted)
		return NULL;
	*least = (struct suspect){.pc = pc};
	return least;
}

/* Is the access on the thread's own stack and below the red zone? A sample's registers may be some
 * instructions old, and pushes in between only make the stack pointer lower still.  */
static bool is_below(struct space *space, const struct tl_access *access)
{
	uint64_t pointer = access->registers->general[SP], start, end;

	return rules_is_below(access->address, pointer) &&
	       space_mapping(space, pointer, &start, &end) && access->address >= start;
}

static void note_area(struct space *space, struct process *process, const struct tl_access *access)
{
	struct stack_area *area = &process->area[(unsigned)access->tid % AREAS];
	uint64_t pointer = access->registers->general[SP];

	if (area->tid == access->tid && pointer >= area->start && pointer < area->end)
		return;
	if (space_mapping(space, pointer, &area->start, &area->end))
		area->tid = access->tid;
}

/* Is it on the stack of another thread, which sleeps with its stack pointer above? */
static bool is_below_other(const struct process *process, const struct tl_access *access)
{
	struct thread_sleep sleep;

	for (unsigned i = 0; i < AREAS; i++) {
		const struct stack_area *area = &process->area[i];

		if (area->tid && area->tid != access->tid && access->address >= area->start &&
		    access->address < area->end)
			return thread_status_sleep(access->pid, area->tid, &sleep) &&
			       rules_is_below(access->address, sleep.stack_pointer) &&
			       sleep.stack_pointer < area->end;
	}
	return false;
}

/* Is the access to a frame that is gone, by what the code says? It is where it goes below the stack
 * pointer in a function that keeps nothing there, or through an argument that pointed below the
 * stack pointer at the function's entry. */
static bool is_argument(struct stack *stack, struct process *process,
			const struct tl_access *access)
{
	struct judge_frame nothing = {0};
	struct tl_access before = *access;
	struct rules_use use;

	before.before = true;
	judge_describe(stack, process, &before, &nothing, &use);
	return !use.frame_based && !use.implicit &&
	       ((use.keeps_nothing && access->address < access->registers->general[SP]) ||
		(use.entry_known && use.argument_known && use.argument < use.entry &&
		 access->address < use.entry));
}

void suspect_sample(struct stack *stack, struct process *process, const struct tl_access *access)
{
	struct space *space = stack_space(stack, access->pid);
	bool suspicious;

	if (!space || access->traits & TL_TRAIT_STACK || stack_was_reported(stack, access->pc))
		return;
	note_area(space, process, access);
	if (access->traits & TL_TRAIT_OWN_STACK)
		suspicious = access->pc == access->registers->pc &&
			     is_argument(stack, process, access);
	else
		suspicious = is_below(space, access) || is_below_other(process, access);
	if (suspicious)
		suspect_note(stack, process, access->pc);
}

void suspect_note(struct stack *stack, struct process *process, uint64_t pc)
{
	struct suspect *suspect = stack_was_reported(stack, pc) ? NULL : find(process, pc);

	if (suspect && suspect->looks < LOOKS && !suspect->watched)
		suspect->wanted = true;
}

bool suspect_begin(struct stack *stack, struct process *process)
{
	struct tl_watch watch = {.access = TL_EXEC, .hits = HITS, .hold = HOLD, .window = WINDOW};

	for (unsigned i = 0; i < SUSPECTS; i++) {
		struct suspect *suspect = &process->suspect[i];
		struct task *task;

		if (!suspect->wanted || suspect->watched)
			continue;
		task = task_begin(stack, process);
		if (!task)
			return false;
		suspect->wanted = false;
		suspect->looks++;
		watch.address = suspect->pc;
		task->suspect = suspect;
		if (task_arm(stack, task, STAGE_SUSPECT, &watch)) {
			task_end(stack, task);
			return false;
		}
		suspect->watched = true;
		stack->services->count(stack->host, "stack-suspects", 1);
		return true;
	}
	return false;
}

static void judge_operands(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct insn_registers registers = tool_registers(access->registers, access->pc);
	struct space *space = stack_space(stack, access->pid);
	struct judge_frame nothing = {0};
	uint8_t bytes[INSN_MAX_LENGTH];
	struct rules_verdict verdict;
	struct insn insn;

	if (!space || insn_decode(bytes, space_code(space, access->pc, bytes, sizeof(bytes)),
				  access->pc, &insn))
		return;
	for (unsigned i = 0; i < insn.operand_count; i++) {
		struct tl_access about = *access;

		if (!(insn.operand[i].access & (TL_READ | TL_WRITE)) ||
		    insn_operand_before(&insn, i, &registers, &about.address, &about.length))
			continue;
		about.access = insn.operand[i].access;
		judge_use(stack, task->process, &about, &nothing, &verdict);
		if (verdict.hidden) {
			stack->services->count(stack->host, verdict.rule, 1);
			continue;
		}
		tell_use(stack, &about, NULL, &verdict);
		return;
	}
}

void suspect_hit(struct stack *stack, struct task *task, const struct tl_access *access)
{
	if (access->registers && !stack_was_reported(stack, access->pc))
		judge_operands(stack, task, access);
	if (stack_was_reported(stack, access->pc))
		suspect_over(stack, task);
}

void suspect_over(struct stack *stack, struct task *task)
{
	task->suspect->watched = false;
	task_end(stack, task);
}
