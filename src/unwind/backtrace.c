/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind.h"

#include "base/counters.h"
#include "unwind/step.h"

void unwind_registers_from_context(struct unwind_registers *registers, const ucontext_t *context)
{
	static const uint8_t from[UNWIND_REGISTER_COUNT] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,	 REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};

	for (unsigned i = 0; i < UNWIND_REGISTER_COUNT; i++)
		registers->value[i] = (uint64_t)context->uc_mcontext.gregs[from[i]];
	registers->known = (1u << UNWIND_REGISTER_COUNT) - 1;
	registers->interrupted = 1;
}

static int collect(struct walk *walk, uintptr_t *pcs, size_t max, int *complete)
{
	size_t count = 0;
	int status = 0;

	while (count < max) {
		pcs[count++] = walk->registers.value[UNWIND_PC];
		status = walk_step(walk);
		if (status)
			break;
	}
	if (status < 0)
		counter_increment(COUNTER_UNWIND_STOPPED);
	if (complete)
		*complete = status == 1;
	return (int)count;
}

int unwind_backtrace(const ucontext_t *context, uintptr_t *pcs, size_t max, int *complete)
{
	struct walk walk;

	walk_init(&walk);
	unwind_registers_from_context(&walk.registers, context);
	return collect(&walk, pcs, max, complete);
}

int unwind_callers(const struct unwind_registers *registers, uint64_t plain_until, uintptr_t *pcs,
		   size_t max, struct unwind_trail *trail)
{
	struct walk walk;

	walk_init(&walk);
	walk.registers = *registers;
	walk.memory.plain_from = registers->value[UNWIND_RSP];
	walk.memory.plain_until = plain_until;
	walk.memory.trail = trail;
	if (trail) {
		trail->count = 0;
		trail->whole = true;
		trail->by_frame_pointer = false;
	}
	return collect(&walk, pcs, max, NULL);
}
