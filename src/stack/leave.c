/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/leave.h"

#include "base/clock.h"
#include "stack/holders.h"
#include "stack/judge.h"
#include "stack/owner.h"
#include "tool/registers.h"

#include <string.h>

/* Bytes that are taken to be gone, where the code does not tell the frame's size. */
#define REACH 65536
#define FOUND 32 /* words that one is chosen from */
/* How long a word is watched for a load of the address: doubled each time. */
#define WINDOW (100 * MILLISECOND)
/* After so many looks at a word in vain only one in AGAIN of its turns is taken. */
#define TRIES 4
#define AGAIN 8

static struct holder_tried *tried_of(struct process *process, uint64_t address)
{
	return &process->tried[(address >> 3) % HOLDERS_TRIED];
}

static unsigned tries(struct process *process, uint64_t address)
{
	const struct holder_tried *tried = tried_of(process, address);

	return tried->address == address ? tried->count : 0;
}

bool leave_gone(struct stack *stack, const struct task *task, const struct tl_access *access,
		struct leave_gone *gone)
{
	struct space *space = stack_space(stack, access->pid);
	const uint64_t pointer = access->registers->general[SP];
	const struct code *code = functions_around(task->process->functions, space, access->pc);
	uint64_t start, end, reach = REACH;

	if (!space || !space_mapping(space, pointer, &start, &end) ||
	    !judge_verified(task->process, space, access))
		return false;
	if (task->site->kind != SITE_LANDING && code && !code->moves_freely) {
		int32_t lowest = code->depth < code->lowest_taken ? code->depth
								  : code->lowest_taken;

		reach = lowest < 0 ? (uint64_t) - (int64_t)lowest : 0;
	}
	if (reach > pointer - start)
		reach = pointer - start;
	*gone = (struct leave_gone){pointer - reach, pointer};
	return reach != 0;
}

bool leave_result(struct stack *stack, struct task *task, const struct tl_access *access,
		  const struct leave_gone *gone)
{
	struct insn_registers registers = tool_registers(access->registers, access->registers->pc);
	const uint8_t results[] = {insn_arch.function_result, insn_arch.function_second_result};

	for (unsigned i = 0; i < sizeof(results); i++) {
		const uint64_t result = registers.general[results[i]];

		if (result - gone->start >= gone->end - gone->start ||
		    !foretell_use(stack_space(stack, access->pid), &registers,
				  (uint16_t)(1u << results[i]), 0, gone->start, gone->end,
				  &task->use))
			continue;
		task->address = result;
		return true;
	}
	return false;
}

void leave_renew(struct process *process, struct space *space)
{
	const unsigned threads = owner_threads(process->pid);

	if (space && threads != process->threads)
		space_renew(space);
	process->threads = threads;
}

bool leave_holder(struct stack *stack, struct task *task, const struct tl_access *access,
		  const struct leave_gone *gone)
{
	struct holders_search search = {.space = stack_space(stack, access->pid),
					.pid = access->pid,
					.start = gone->start,
					.end = gone->end,
					.stack = access->registers->general[SP],
					.chance = stack->random >> 16};
	struct process *process = task->process;
	struct holder found[FOUND];
	struct holder_tried *tried;
	const struct holder *best = NULL;
	unsigned count;

	if (process->copies) {
		stack->services->count(stack->host, "stack-holders-copied", 1);
		return false;
	}
	count = holders_find(&search, found, FOUND);
	stack->random = stack->random * 6364136223846793005ull + 1442695040888963407ull;
	for (unsigned i = 0; i < count; i++)
		if ((tries(process, found[i].address) < TRIES || search.chance % AGAIN == 0) &&
		    (!best || tries(process, found[i].address) < tries(process, best->address)))
			best = &found[i];
	if (!best)
		return false;
	tried = tried_of(process, best->address);
	if (tried->address != best->address)
		*tried = (struct holder_tried){best->address, 0};
	tried->count++;
	task->holder = best->address;
	task->address = best->pointer;
	return true;
}

uint64_t leave_window(const struct task *task)
{
	unsigned tried = tries(task->process, task->holder);

	return WINDOW << (tried < TRIES ? tried : TRIES);
}
