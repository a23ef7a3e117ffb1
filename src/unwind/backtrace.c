/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind.h"

#include "base/counters.h"
#include "unwind/step.h"

static void registers_from_context(struct unwind_registers *registers, const ucontext_t *context)
{
	unwind_arch.registers(context, registers->value);
	registers->known = (uint32_t)((1ull << UNWIND_REGISTER_COUNT) - 1);
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
	registers_from_context(&walk.registers, context);
	return collect(&walk, pcs, max, complete);
}

int unwind_callers(const struct unwind_registers *registers, uint64_t plain_until, uintptr_t *pcs,
		   size_t max, struct unwind_trail *trail)
{
	struct walk walk;

	walk_init(&walk);
	walk.registers = *registers;
	walk.memory.plain_from = registers->value[UNWIND_SP];
	walk.memory.plain_until = plain_until;
	walk.memory.trail = trail;
	if (trail) {
		trail->count = 0;
		trail->whole = true;
		trail->by_frame_pointer = false;
	}
	return collect(&walk, pcs, max, NULL);
}
