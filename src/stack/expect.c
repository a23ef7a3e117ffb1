/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/expect.h"

#include "base/clock.h"
#include "insn/operand.h"
#include "tool/registers.h"

#include <trapline/event.h>

#define HOLD (3 * MILLISECOND) /* at most: until the hit was looked at */
#define WINDOW (100 * MILLISECOND)
#define VISITS_MOST                                                                      \
	32    /* times that the instruction may come before the use, since each is a hit \
	       */
#define RCX 1 /* how often a string instruction is still to be repeated */

static bool decode(struct space *space, uint64_t pc, struct insn *insn)
{
	uint8_t bytes[INSN_MAX_LENGTH];

	return space && !insn_decode(bytes, space_code(space, pc, bytes, sizeof(bytes)), pc, insn);
}

/* Does the operand touch exactly what its address says? Not where a mask, a condition or an index
 * vector chooses. */
static bool is_certain(const struct insn_operand *operand)
{
	return !operand->masked && operand->vector_index < 0 && !operand->conditional &&
	       !operand->extent_unknown;
}

static bool all_certain(const struct insn *insn)
{
	for (unsigned i = 0; i < insn->operand_count; i++)
		if (!is_certain(&insn->operand[i]))
			return false;
	return insn->operand_count != 0;
}

bool expect_begin(struct stack *stack, struct task *task, pid_t tid)
{
	struct space *space = stack_space(stack, task->process->pid);
	struct tl_watch watch = {.access = TL_EXEC,
				 .address = task->use.pc,
				 .tid = tid,
				 .hits = task->use.visits + 1,
				 .hold = HOLD,
				 .window = WINDOW};
	struct insn insn;

	return task->use.visits <= VISITS_MOST && decode(space, task->use.pc, &insn) &&
	       (task->use.given || all_certain(&insn)) && !task_arm(stack, task, STAGE_USE, &watch);
}

/* The use is made by a function that is called here and not followed: it counts if the thread hands
 * it the address. */
static bool is_given(const struct foretold *use, const struct tl_access *access,
		     struct tl_access *about)
{
	if (access->registers->general[use->number] != use->address)
		return false;
	*about = *access;
	about->address = use->address;
	about->length = use->length;
	about->access = use->access;
	about->before = true;
	return true;
}

/* Does an operand of the instruction that comes next go to the address that was foretold? */
static bool touches(struct space *space, const struct foretold *use, const struct tl_access *access,
		    struct tl_access *about)
{
	struct insn_registers registers = tool_registers(access->registers, use->pc);
	struct insn insn;

	if (use->given)
		return is_given(use, access, about);
	if (!decode(space, use->pc, &insn) || (insn.repeated && !registers.general[RCX]))
		return false;
	for (unsigned i = 0; i < insn.operand_count; i++) {
		uint64_t first, length;

		if (!(insn.operand[i].access & use->access) ||
		    insn_operand_before(&insn, i, &registers, &first, &length) ||
		    first != use->address || !length)
			continue;
		*about = *access;
		about->pc = use->pc;
		about->address = first;
		about->length = length;
		about->access = insn.operand[i].access;
		about->before = true;
		return true;
	}
	return false;
}

static bool is_expected(const struct task *task, const struct tl_access *access)
{
	return (task->kept || task->result) && task->foretold && access->tid == task->reader;
}

bool expect_hit(struct stack *stack, struct task *task, const struct tl_access *access,
		struct tl_access *about)
{
	if (!is_expected(task, access) || access->registers->pc != task->use.pc)
		return false;
	if (task->use.visits) {
		task->use.visits--;
		return false;
	}
	task->foretold = false;
	return access->registers->general[SP] == task->use.stack &&
	       touches(stack_space(stack, access->pid), &task->use, access, about);
}

bool expect_touched(struct task *task, struct tl_access *access)
{
	if (!is_expected(task, access) || access->registers->pc != task->use.next)
		return false;
	task->foretold = false;
	if (access->registers->general[SP] != task->use.stack)
		return false;
	access->pc = task->use.pc;
	access->address = task->use.address;
	access->length = task->use.length;
	access->access &= ~TL_GUESSED;
	return true;
}
